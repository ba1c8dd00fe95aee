/* The page that explains labels: a review, its aspects, found by the server or marked by hand, and the label and explanation of
   each. */

import { download, make, moveBy, setTabStop } from "./dom.js";
import { answerFigure, changesBetween, percent } from "./heat.js";
import { announce, get, post, send, showError, showMessage } from "./server.js";
import { columnsFor, decode, guess, headerOf } from "./table.js";
import { aspectsOf, carryMarks, countPoints, markSpans, points, wordsOf } from "./text.js";

const EXAMPLE = "The screen is huge and bright, but the battery life is terrible.";
const EXAMPLE_ASPECTS = ["screen", "battery", "life"]; // where the server finds none
const DEBOUNCE = 200; // milliseconds without a change before a request is sent
const PAUSE = 600; // milliseconds without typing before aspects are looked for

const textField = document.getElementById("text");
const wordsBox = document.getElementById("words");
const answersBox = document.getElementById("answers");
const saliencyField = document.getElementById("saliency");
const compareField = document.getElementById("compare");
const tableDone = document.getElementById("table-done");

const state = {
  runs: {}, maxCharacters: Infinity, maxAspects: Infinity, words: [], marked: new Set(), place: 0, sharesOpen: false,
  findsAspects: false, // whether the server finds aspects
  byHand: false, // whether the reader has changed the marks of this review
};
let timer = 0;
let request = new AbortController();
let findTimer = 0;
let search = new AbortController();

/* The words */

function readText() {
  const words = countPoints(textField.value) > state.maxCharacters ? [] : wordsOf(textField.value);
  state.marked = carryMarks(state.words, words, state.marked);
  state.words = words;
  state.place = Math.max(0, Math.min(state.place, words.length - 1));
  if (!words.length) state.byHand = false;
  drawWords();
  if (!state.findsAspects || state.byHand) askSoon();
  else findSoon(PAUSE);
}

function drawWords() {
  wordsBox.replaceChildren();
  state.words.forEach((word, place) => {
    const button = make("button", { type: "button", class: "word", textContent: word.text, "data-place": place });
    wordsBox.append(word.gap.includes("\n") ? make("br") : word.gap ? " " : make("wbr"), button);
  });
  if (!state.words.length) wordsBox.append(make("span", { class: "note", textContent: emptyNote() }));
  setTabStop(wordButtons(), state.place);
  drawMarks();
}

function emptyNote() {
  const length = countPoints(textField.value);
  return length > state.maxCharacters
    ? `The review has ${length} characters; the limit is ${state.maxCharacters}.`
    : "The words of your review appear here.";
}

function drawMarks() {
  wordButtons().forEach((button, place) => {
    const marked = state.marked.has(place);
    button.setAttribute("aria-pressed", marked);
    button.classList.toggle("joined", marked && state.marked.has(place - 1));
    button.classList.toggle("joins", marked && state.marked.has(place + 1));
  });
  const marked = document.getElementById("marked");
  const names = aspectsOf(state.words, state.marked).map((aspect) => `“${cut(aspect)}”`);
  marked.hidden = !names.length;
  marked.textContent = `${names.length === 1 ? "One aspect" : `${names.length} aspects`}: ${names.join(", ")}`;
}

function cut({ from, to }) {
  return points(textField.value).slice(from, to).join("");
}

function wordButtons() {
  return [...wordsBox.querySelectorAll("button")];
}

function mark(first, last, isMarked) {
  stopFinding();
  state.byHand = true;
  for (let place = Math.min(first, last); place <= Math.max(first, last); place += 1) {
    if (isMarked) state.marked.add(place);
    else state.marked.delete(place);
  }
  drawMarks();
  askSoon();
}

function focusWord(place) {
  state.place = place;
  setTabStop(wordButtons(), place);
  wordButtons()[place].focus();
}

function placeOf(target) {
  const button = target instanceof Element ? target.closest("button.word") : null;
  return button ? Number(button.dataset.place) : null;
}

/* Marking by mouse (drag), touch (tap) and keyboard */

const drag = { from: null, moved: false, before: new Set() };

wordsBox.addEventListener("pointerdown", (event) => {
  const place = placeOf(event.target);
  drag.moved = false;
  // A finger that moves scrolls the page.
  drag.from = event.pointerType === "touch" || event.button ? null : place;
  drag.before = new Set(state.marked);
});
wordsBox.addEventListener("pointerover", (event) => {
  const place = placeOf(event.target);
  if (drag.from === null || place === null || (place === drag.from && !drag.moved)) return;
  drag.moved = true;
  state.marked = new Set(drag.before);
  mark(drag.from, place, true);
});
document.addEventListener("pointerup", () => { drag.from = null; });
document.addEventListener("pointercancel", () => { drag.from = null; });
wordsBox.addEventListener("click", (event) => {
  const place = placeOf(event.target);
  if (place === null || drag.moved) return;
  focusWord(place);
  mark(place, place, !state.marked.has(place));
});
wordsBox.addEventListener("keydown", (event) => {
  drag.moved = false;
  const rightToLeft = getComputedStyle(wordsBox).direction === "rtl";
  const to = moveBy(event.key, state.place, state.words.length, rightToLeft);
  if (to === null || !state.words.length || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  if (event.shiftKey) mark(state.place, to, true);
  focusWord(to);
});

/* Finding aspects */

function findSoon(delay) {
  stopFinding();
  findTimer = setTimeout(find, delay);
}

function stopFinding() {
  clearTimeout(findTimer);
  search.abort();
}

async function find() {
  const text = textField.value;
  const note = document.getElementById("found");
  note.textContent = "";
  if (!state.words.length) {
    askSoon();
    return;
  }
  search = new AbortController();
  const { signal } = search;
  try {
    const [item] = (await post("/v1/predict", { items: [{ text }] }, signal)).items;
    if (signal.aborted) return;
    state.marked = markSpans(state.words, item.aspects.filter((aspect) => !aspect.error));
    state.byHand = false;
    note.textContent = describeFound(item);
    drawMarks();
    askSoon();
  } catch (error) {
    if (!signal.aborted) showFailure(error);
  }
}

function describeFound({ aspects, left_out: leftOut }) {
  if (!aspects.length) return "No aspect was found. You can mark some yourself.";
  const found = aspects.length === 1 ? "One aspect was found." : `${aspects.length} aspects were found.`;
  const more = leftOut ? ` ${leftOut} more are beyond the limit of this server.` : "";
  return `${found}${more} You can change them below.`;
}

/* Requests */

function askSoon() {
  clearTimeout(timer);
  request.abort();
  timer = setTimeout(ask, DEBOUNCE);
}

async function ask() {
  const text = textField.value;
  const aspects = aspectsOf(state.words, state.marked);
  answersBox.removeAttribute("aria-busy");
  if (!aspects.length || !state.runs.first) {
    answersBox.replaceChildren(make("p", { class: "note", textContent: "Mark an aspect to see its label here." }));
    return;
  }
  if (aspects.length > state.maxAspects) {
    showFailure(new Error(`You marked ${aspects.length} aspects; the limit is ${state.maxAspects}.`));
    return;
  }
  request = new AbortController();
  const { signal } = request;
  const names = Object.keys(state.runs).filter((name) => name === "first" || compareField.checked);
  answersBox.setAttribute("aria-busy", "true");
  try {
    const answers = await Promise.all(names.map((run) => explain(run, text, aspects, signal)));
    if (!signal.aborted) drawAnswers(text, aspects, names, answers);
  } catch (error) {
    if (!signal.aborted) showFailure(error);
  } finally {
    if (!signal.aborted) answersBox.removeAttribute("aria-busy");
  }
}

function showFailure(error) {
  answersBox.replaceChildren(make("p", { class: "warning", textContent: `Error: ${error.message}` }));
  showError(error);
}

async function explain(run, text, aspects, signal) {
  const { saliencies } = state.runs[run];
  const selected = saliencyField.value;
  const saliency = saliencies.includes(selected) ? selected : saliencies[0];
  const answer = await post("/v1/explain", { items: [{ text, aspects }], run, saliency }, signal);
  return answer.items[0].aspects;
}

function drawAnswers(text, aspects, names, answers) {
  const cards = aspects.map((aspect, place) => {
    const found = answers.map((ofRun) => ofRun[place]);
    const figures = found.map((answer, which) => drawAnswer(text, answer, names.length > 1 ? runName(names[which]) : ""));
    const pair = make("div", { class: figures.length > 1 ? "side-by-side" : "" }, ...figures);
    return make("article", { class: "card" }, make("h3", { dir: "auto", textContent: cut(aspect) }), pair, ...difference(found));
  });
  answersBox.replaceChildren(...cards);
  announce(answers[0].map((answer) => answer.error ?? `${answer.aspect}: ${answer.label} ${percent(Math.max(...Object.values(answer.probabilities)))}`).join("; "));
}

function drawAnswer(text, answer, name) {
  if (answer.error) return make("p", { class: "warning", textContent: answer.error });
  return answerFigure(text, answer, name, state.sharesOpen);
}

function difference([first, second]) {
  if (!second || first.error || second.error) return [];
  const same = first.label === second.label ? "Both runs give the same label." : `The runs disagree: ${first.label} and ${second.label}.`;
  const changes = first.saliency === second.saliency ? changesBetween(first, second) : "";
  const shares = changes ? ` Largest changes in share from ${runName("first")} to ${runName("versus")}, in percentage points: ${changes}.` : "";
  return [make("p", { class: first.label === second.label ? "note" : "warning", textContent: same + shares })];
}

function runName(run) {
  return state.runs[run].name ?? run;
}

/* Scoring a CSV file */

/** Show the columns of the chosen file, with those that are likely selected. */
async function showColumns() {
  const file = document.getElementById("table").files[0];
  const names = file ? await headerOf(file) : [];
  for (const field of ["text", "aspect"]) {
    const choice = document.getElementById(`column-${field}`);
    const likely = guess(names, field);
    const options = names.map((name) => make("option", { value: name, textContent: name, selected: name === likely }));
    const isFound = field === "aspect" && state.findsAspects;
    const none = make("option", { value: "", textContent: isFound ? "(find aspects)" : "(none)" });
    choice.replaceChildren(...(likely && !isFound ? [] : [none]), ...options);
    choice.parentElement.hidden = !names.length;
  }
}

async function scoreTable(event) {
  event.preventDefault();
  const file = document.getElementById("table").files[0];
  const button = event.target.querySelector("button");
  button.disabled = true;
  tableDone.hidden = true;
  showMessage(`Scoring ${file.name} …`);
  try {
    const chosen = Object.fromEntries(["text", "aspect"].map((field) => [field, document.getElementById(`column-${field}`).value]));
    const query = new URLSearchParams({ run: document.getElementById("table-run").value });
    if (columnsFor(chosen)) query.set("columns", columnsFor(chosen));
    const { text, encoding, hasMark } = await decode(file);
    const isUtf8 = encoding === "utf-8";
    const answer = await send(`/v1/csv?${query}`, { method: "POST", body: isUtf8 ? file : text, headers: { "Content-Type": "text/csv" } });
    // By a byte order mark spreadsheets recognise UTF-8.
    const scored = new Blob([isUtf8 && !hasMark ? "" : "\uFEFF", await answer.blob()], { type: "text/csv" });
    const link = download(scored, `${file.name.replace(/\.csv$/i, "")}.scored.csv`);
    tableDone.replaceChildren("Scored: ", link);
    tableDone.hidden = false;
    showMessage(`${link.download} is in your downloads.${isUtf8 ? "" : ` ${file.name} was read as ${encoding}.`}`);
  } catch (error) {
    showError(error);
  } finally {
    button.disabled = false;
  }
}

/* Start */

async function start() {
  const model = await get("/v1/model");
  state.maxCharacters = model.limits.characters;
  state.maxAspects = model.limits.aspects;
  state.findsAspects = model.finds_aspects;
  for (const id of ["finding", "table-finding"]) document.getElementById(id).hidden = !model.finds_aspects;
  state.runs = Object.fromEntries(Object.entries(model.runs).filter(([, run]) => run));
  const runs = Object.entries(state.runs).map(([run, { model: kind, labels }]) => `${runName(run)} (${kind}: ${labels.join(", ")})`);
  document.getElementById("about").textContent = runs.join(" compared with ");
  document.getElementById("to-evidence").hidden = !model.evidence;
  for (const id of ["compare-field", "table-run-field"]) document.getElementById(id).hidden = !state.runs.versus;
  document.getElementById("table-run").replaceChildren(...Object.keys(state.runs).map((run) => make("option", { value: run, textContent: runName(run) })));
  saliencyField.replaceChildren(...state.runs.first.saliencies.map((name) => make("option", { value: name, textContent: name.replaceAll("_", " ") })));
  readText();
}

textField.addEventListener("input", readText);
document.getElementById("example").addEventListener("click", () => {
  textField.value = EXAMPLE;
  state.marked = new Set();
  state.byHand = false;
  readText();
  if (state.findsAspects) {
    findSoon(0);
    return;
  }
  state.words.forEach((word, place) => { if (EXAMPLE_ASPECTS.includes(word.text)) state.marked.add(place); });
  drawMarks();
});
document.getElementById("clear").addEventListener("click", () => {
  textField.value = "";
  document.getElementById("found").textContent = "";
  readText();
  showMessage("");
  textField.focus();
});
document.getElementById("find").addEventListener("click", () => findSoon(0));
saliencyField.addEventListener("change", askSoon);
compareField.addEventListener("change", askSoon);
answersBox.addEventListener("toggle", (event) => { state.sharesOpen = event.target.open; }, true);
document.getElementById("table").addEventListener("change", showColumns);
document.getElementById("table-form").addEventListener("submit", scoreTable);
start().catch(showError);
