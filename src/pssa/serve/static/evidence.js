/* The page for reviewing evidence: filtered sentences, and one key for each change, which the server saves at once. */

import { make, moveBy, setTabStop } from "./dom.js";
import { showExport, showStats, showTotals } from "./overview.js";
import { roundsTable, sentenceButtons, sentenceLine, wordLine } from "./sentence.js";
import { get, post, showError, showMessage } from "./server.js";

const PAGE = 50;
const find = (id) => document.getElementById(id);
const wordsBox = find("words");
const list = find("list");
const filters = find("filters");

const state = { page: null, at: -1, place: 0, undo: null, start: 0, drops: null };
let queue = Promise.resolve(); // one task at a time, so that every change knows the version before it

/** Run a task after all earlier ones. */
function inTurn(task) {
  queue = queue.then(task).catch(showError);
  return queue;
}

const current = () => state.page?.sentences[state.at] ?? null;
const chosenWord = () => current()?.words[state.place] ?? null;

/* Filters and pages */

function currentQuery() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(filters)) if (value && value !== "found") query.set(name, value.trim());
  return query;
}

async function load(start, choose = () => 0) {
  const query = currentQuery();
  query.set("start", start);
  query.set("limit", PAGE);
  state.page = await get(`/v1/evidence/sentences?${query}`);
  state.start = start;
  drawList();
  show(Math.max(0, choose(state.page.sentences)));
}

function drawList() {
  const { sentences, before, selected, previous, next } = state.page;
  list.start = before + 1;
  list.replaceChildren(...sentences.map((sentence, place) => make("li", {}, row(sentence, place))));
  const last = before + sentences.length;
  find("list-title").textContent = selected ? `Sentences ${before + 1} to ${last} of ${selected}` : "No matching sentences";
  find("page-before").disabled = previous === null;
  find("page-after").disabled = next === null;
}

function row(sentence, place) {
  const about = make("span", { class: "note", textContent: `${sentence.label}${sentence.changed ? " · changed" : ""}` });
  return make("button", { type: "button", class: "sentence", "data-place": place }, sentenceLine(sentence), " ", about);
}

/* One sentence */

function show(at) {
  state.at = state.page.sentences.length ? Math.min(at, state.page.sentences.length - 1) : -1;
  const sentence = current();
  state.place = sentence ? firstWord(sentence) : 0;
  for (const button of list.querySelectorAll("button")) {
    const isCurrent = Number(button.dataset.place) === state.at;
    if (isCurrent) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  drawSentence();
  remember();
}

/** The word to select in a sentence: the one that is filtered for, else the first with a finding. */
function firstWord(sentence) {
  const text = find("word").value.trim().toLowerCase();
  const kind = find("kind").value;
  const matches = (word) => word.finding && (!kind || kind === "found" || word.finding.kind === kind);
  const places = [
    sentence.words.findIndex((word) => text && word.word.toLowerCase() === text && matches(word)),
    sentence.words.findIndex((word) => text && word.word.toLowerCase() === text && !word.aspect),
    sentence.words.findIndex((word) => word.finding),
  ];
  return Math.max(0, places.find((place) => place >= 0) ?? 0);
}

function drawSentence() {
  const sentence = current();
  const { before, selected } = state.page;
  find("sentence-title").textContent = sentence ? `Sentence ${before + state.at + 1} of ${selected}` : "No sentence";
  find("sentence-about").textContent = sentence ? `${sentence.id} · ${sentence.label}${sentence.changed ? " · changed in this review" : ""}` : "";
  const hadFocus = wordsBox.contains(document.activeElement);
  wordsBox.replaceChildren(...(sentence ? sentenceButtons(sentence) : []));
  find("rounds").replaceChildren(...(sentence ? [roundsTable(sentence)] : []));
  chooseWord(state.place, hadFocus);
}

function chooseWord(place, focus) {
  state.place = place;
  const buttons = [...wordsBox.querySelectorAll("button")];
  setTabStop(buttons, place);
  buttons.forEach((button, index) => button.classList.toggle("chosen", index === place));
  if (focus) buttons[place]?.focus();
  const word = chosenWord();
  find("word-about").textContent = word ? wordLine(current(), word) : "";
  for (const button of document.querySelectorAll("[data-action]")) button.disabled = !actionFor(button.dataset.action);
  find("drop-everywhere").disabled = !(word?.finding ?? word?.mined);
  find("previous").disabled = state.at <= 0 && (state.page?.previous ?? null) === null;
  find("next").disabled = state.at + 1 >= (state.page?.sentences.length ?? 0) && (state.page?.next ?? null) === null;
}

/** The action to request for a key that means `action`; null if it is not possible for this word. */
function actionFor(action) {
  const word = chosenWord();
  if (!word || word.aspect) return null;
  const kind = word.finding?.kind;
  if (action === "flip" || action === "drop") return kind ? action : null;
  if (kind === action) return null;
  return kind ? "flip" : action; // a word has one finding: to make it the other kind is to flip it
}

function move(step) {
  return inTurn(async () => {
    const { sentences, previous, next } = state.page;
    const to = state.at + step;
    if (to >= 0 && to < sentences.length) show(to);
    else if (step > 0 && next !== null) await load(next);
    else if (step < 0 && previous !== null) await load(previous, (found) => found.length - 1);
    else showMessage(step > 0 ? "This is the last sentence." : "This is the first sentence.");
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  });
}

/* Changes */

function act(action) {
  return inTurn(async () => {
    const sentence = current();
    const possible = actionFor(action);
    if (!possible) return showMessage(reasonAgainst(action));
    const place = state.place;
    try {
      const answer = await post("/v1/evidence/changes", { index: sentence.index, version: sentence.version, action: possible, word: place });
      update(answer);
      const { word, finding } = answer.sentence.words[place];
      showMessage(`“${word}” is ${finding ? `now ${finding.kind}` : "dropped"}. Saved.`);
    } catch (error) {
      if (error.code !== "stale") throw error;
      await refresh(sentence.index);
      showError(new Error("This sentence was changed in another window. You now see its latest version; your change was not made."));
    }
  });
}

function reasonAgainst(action) {
  const word = chosenWord();
  if (!word) return "There is no word to change.";
  if (word.aspect) return `“${word.word}” belongs to the aspect, which is never evidence.`;
  return word.finding ? `“${word.word}” is ${word.finding.kind} already.` : `“${word.word}” is not evidence, so you cannot ${action === "flip" ? "flip" : "drop"} it.`;
}

/** Drop the selected word wherever it is evidence of the same kind. */
function dropEverywhere() {
  return inTurn(async () => {
    const { word, finding, mined } = chosenWord() ?? {};
    const meant = finding ?? mined; // who has dropped it here may want to drop it in the other sentences too
    if (!meant) return showMessage(reasonAgainst("drop"));
    const index = current().index;
    const { dropped, first, totals } = await post("/v1/evidence/drops", { text: word, kind: meant.kind });
    drawTotals(totals);
    state.drops = { first, last: totals.undo.number, word };
    await reload(index);
    showMessage(`“${word}” is dropped in ${dropped === 1 ? "one place" : `${dropped} places`}. Saved. Undo takes all of them back.`);
  });
}

/** Take back all changes of the last “drop everywhere”, the last first. */
async function undoDrops() {
  const { first, word } = state.drops;
  const index = current()?.index ?? state.undo.index;
  state.drops = null;
  let count = 0;
  for (; state.undo && state.undo.number >= first; count += 1) drawTotals((await post("/v1/evidence/undo", { number: state.undo.number })).totals);
  await reload(index);
  showMessage(`Undone: “${word}” in ${count === 1 ? "one place" : `${count} places`}. Saved.`);
}

/** Read the page again and stay at a sentence, if the filters still select it. */
async function reload(index) {
  const start = state.start;
  await load(start, (sentences) => sentences.findIndex((sentence) => sentence.index === index));
}

function undo() {
  return inTurn(async () => {
    if (!state.undo) return showMessage("There is nothing to undo.");
    if (state.drops?.last === state.undo.number) return undoDrops();
    const { index, word } = state.undo;
    try {
      update(await post("/v1/evidence/undo", { number: state.undo.number }));
    } catch (error) {
      if (error.code !== "stale") throw error;
      await refresh(current()?.index ?? index);
      return showError(new Error("Something was changed in another window. Check what undo would do now."));
    }
    await visit(index);
    chooseWord(word, wordsBox.contains(document.activeElement));
    showMessage(`Undone: “${current().words[word].word}” in ${current().id}. Saved.`);
  });
}

/** Go to a sentence; reset the filters if they hide it. */
async function visit(index) {
  const placeOf = () => state.page.sentences.findIndex((sentence) => sentence.index === index);
  if (placeOf() < 0) await load(index, () => 0);
  if (placeOf() < 0) {
    filters.reset();
    await load(index, () => 0);
  }
  show(placeOf());
}

/** Show a sentence as the server has it now. */
function update({ sentence, totals }) {
  const place = state.page.sentences.findIndex((known) => known.index === sentence.index);
  if (place >= 0) {
    state.page.sentences[place] = sentence;
    const fresh = row(sentence, place);
    if (place === state.at) fresh.setAttribute("aria-current", "true");
    list.children[place].replaceChildren(fresh);
    if (place === state.at) drawSentence();
  }
  if (totals) drawTotals(totals);
}

async function refresh(index) {
  update({ sentence: await get(`/v1/evidence/sentences/${index}`) });
  drawTotals((await get("/v1/evidence/stats")).totals);
}

function drawTotals(totals) {
  state.undo = totals.undo;
  showTotals(totals);
}

function exportFile() {
  return inTurn(async () => {
    const answer = await post("/v1/evidence/export");
    showExport(answer);
    showMessage(`${answer.file} has been written.`);
  });
}

/* The address keeps filters and position, so that a reload changes nothing */

function remember() {
  const query = currentQuery().toString();
  const sentence = current();
  history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}${sentence ? `#${sentence.index}` : ""}`);
}

function recall() {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = filters.elements.namedItem(name);
    if (field) field.value = value;
  }
  const index = Number.parseInt(location.hash.slice(1), 10);
  return Number.isInteger(index) && index >= 0 ? index : 0;
}

/* Start */

function chooseFrequent(word, kind) {
  filters.reset();
  find("word").value = word;
  find("kind").value = kind;
  inTurn(() => load(0));
}

const KEYS = {
  f: () => act("flip"), d: () => act("drop"), a: () => act("active"), m: () => act("misleading"),
  u: undo, j: () => move(1), k: () => move(-1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !state.page) return;
  if (event.target.closest("input, select, textarea, pre")) return;
  const rightToLeft = getComputedStyle(wordsBox).direction === "rtl";
  const to = moveBy(event.key, state.place, current()?.words.length ?? 0, rightToLeft);
  if (to !== null && current()) {
    event.preventDefault();
    chooseWord(to, true);
  } else if (KEYS[event.key.toLowerCase()] && !event.repeat) {
    event.preventDefault();
    KEYS[event.key.toLowerCase()]();
  }
});
wordsBox.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) chooseWord(Number(button.dataset.place), true);
});
list.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  show(Number(button.dataset.place));
  find("sentence-title").scrollIntoView({ block: "nearest" });
});
for (const button of document.querySelectorAll("[data-action]")) button.addEventListener("click", () => act(button.dataset.action));
find("undo").addEventListener("click", undo);
find("drop-everywhere").addEventListener("click", dropEverywhere);
find("previous").addEventListener("click", () => move(-1));
find("next").addEventListener("click", () => move(1));
find("export").addEventListener("click", exportFile);
find("page-before").addEventListener("click", () => inTurn(() => load(state.page.previous)));
find("page-after").addEventListener("click", () => inTurn(() => load(state.page.next)));
filters.addEventListener("submit", (event) => {
  event.preventDefault();
  inTurn(() => load(0));
});
filters.addEventListener("change", () => inTurn(() => load(0)));
find("reset-filters").addEventListener("click", () => {
  filters.reset();
  inTurn(() => load(0));
});
inTurn(async () => {
  const stats = await get("/v1/evidence/stats");
  showStats(stats, chooseFrequent);
  drawTotals(stats.totals);
  const index = recall();
  // On a phone the filters would push the sentence out of sight.
  if (matchMedia("(max-width: 44rem)").matches && !location.search) find("filters-box").open = false;
  await load(index);
});
