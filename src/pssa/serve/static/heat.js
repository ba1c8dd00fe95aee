/* A result on the page: the label, probabilities as bars with numbers, and the heat map of the words. */

import { make, table } from "./dom.js";
import { points } from "./text.js";

const LEVELS = 10; // of heat, as in reports; each has a class in the style sheet
const FULL = 0.4; // share of a word at the highest level
const NAMED = 0.05; // smallest share whose number is shown
const MAX_CHANGES = 5; // words that are listed when two runs are compared

/** Format a share as in 42.0 %. */
export function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** Return a figure for one result of one run. */
export function answerFigure(text, answer, name, sharesOpen) {
  const caption = make("figcaption", {},
    ...(name ? [make("span", { class: "run", textContent: name }), " "] : []),
    make("b", { class: "label", textContent: answer.label }), " ",
    make("span", { textContent: percent(Math.max(...Object.values(answer.probabilities))) }), " ",
    make("span", { class: "note", textContent: `by ${answer.saliency.replaceAll("_", " ")}` }));
  const warning = answer.warning ? [make("p", { class: "note", textContent: answer.warning })] : [];
  const shares = make("details", { open: sharesOpen, class: "shares" },
    make("summary", { textContent: "Table of word shares" }), sharesTable(answer));
  return make("figure", { class: "heat-map" }, caption, ...warning, bars(answer), heatMap(text, answer), shares);
}

/** List the words whose share differs most between two results. */
export function changesBetween(first, second) {
  const other = new Map(second.words.map((word) => [word.from, word.share]));
  const found = first.words
    .map((word) => ({ word: word.word, by: (other.get(word.from) ?? 0) - word.share }))
    .filter((change) => Math.abs(change.by) >= 0.005)
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by))
    .slice(0, MAX_CHANGES);
  return found.map((change) => `“${change.word}” ${change.by > 0 ? "+" : "−"}${Math.abs(100 * change.by).toFixed(1)}`).join(", ");
}

function bars(answer) {
  const rows = Object.entries(answer.probabilities).map(([label, value]) => {
    const filled = make("span", { class: "filled" });
    filled.style.inlineSize = `${100 * value}%`;
    return make("li", { class: label === answer.label ? "chosen" : "" },
      make("span", { class: "bar-label", textContent: label }),
      make("span", { class: "bar", "aria-hidden": "true" }, filled),
      make("span", { class: "bar-number", textContent: percent(value) }));
  });
  return make("ul", { class: "bars", "aria-label": "probabilities" }, ...rows);
}

function heatMap(text, answer) {
  const characters = points(text);
  const cut = (from, to) => characters.slice(from, to).join("");
  const paragraph = make("p", { class: "heat", dir: "auto" });
  paragraph.setAttribute("role", "img");
  paragraph.setAttribute("aria-label", altText(answer));
  let place = 0;
  let inAspect = false;
  for (const word of answer.words) {
    const isAspect = word.from >= answer.from && word.to <= answer.to;
    if (isAspect && inAspect) continue;
    paragraph.append(cut(place, word.from));
    place = isAspect ? answer.to : word.to;
    inAspect = isAspect;
    paragraph.append(isAspect
      ? make("b", { class: "aspect", title: "the aspect", textContent: cut(word.from, place) })
      : heated(cut(word.from, place), word.share));
  }
  paragraph.append(cut(place, characters.length));
  return paragraph;
}

function heated(text, share) {
  const level = Math.min(LEVELS, Math.round((share / FULL) * LEVELS));
  const piece = make("i", { title: `${text}: ${percent(share)}`, textContent: text });
  if (level) piece.className = `h${level}`;
  if (share >= NAMED) piece.dataset.n = share < 0.995 ? share.toFixed(2).slice(1) : "1.0";
  return piece;
}

function altText(answer) {
  const hottest = answer.words.filter((word) => word.share >= NAMED).sort((a, b) => b.share - a.share);
  const words = hottest.map((word) => `${word.word} ${percent(word.share)}`).join(", ");
  return `Shares of the words for ${answer.aspect}: ${words || "no word has 5 % or more"}.`;
}

function sharesTable(answer) {
  const rows = answer.words
    .filter((word) => word.from < answer.from || word.to > answer.to)
    .map((word) => [word.word, percent(word.share)]);
  return table(`Share of each word by ${answer.saliency.replaceAll("_", " ")}`, ["word", "share"], rows, [1]);
}
