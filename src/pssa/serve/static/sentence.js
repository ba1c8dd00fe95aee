/* A sentence of evidence as people see it: its words with signs, what is known of one word, and the rounds as a table. */

import { make, table } from "./dom.js";

const SIGN = { active: "+", misleading: "−" };

/** The sentence to be read, for the list. */
export function sentenceLine(sentence) {
  const line = make("span", { class: "line", dir: "auto" });
  let aspect = null;
  sentence.words.forEach((word, place) => {
    const gap = place && sentence.words[place - 1].to < word.from ? " " : "";
    if (word.aspect && aspect) {
      aspect.append(gap, word.word);
      return;
    }
    aspect = word.aspect ? make("b", { class: "aspect", textContent: word.word }) : null;
    line.append(gap, aspect ?? (word.finding ? marked(word) : word.word));
  });
  return line;
}

/** The sentence as buttons, one a word, with what stands between them. */
export function sentenceButtons(sentence) {
  return sentence.words.flatMap((word, place) => {
    const gap = place && sentence.words[place - 1].to < word.from ? " " : make("wbr");
    const button = make("button", { type: "button", class: `word ${classOf(word)}`, "data-place": place }, textOf(word));
    if (word.finding) button.append(sign(word.finding));
    if (disagrees(sentence, word)) button.append(make("sup", { class: "second", textContent: `≠${SIGN[word.second] ?? "○"}` }));
    button.setAttribute("aria-label", `${word.word}, ${briefly(word)}`);
    button.title = briefly(word);
    return [gap, button];
  });
}

/** All that is known of a word, in one line. */
export function wordLine(sentence, word) {
  const said = [`“${word.word}” is ${briefly(word)}.`];
  if (word.finding) said.push(measured(word.finding));
  if (kindOf(word.mined) !== kindOf(word.finding)) said.push(`In the file it is ${word.mined ? held(word.mined) : "not found"}.`);
  if (disagrees(sentence, word)) said.push(`In the second file it is ${word.second ?? "not found"}.`);
  return said.join(" ");
}

/** What each round found in a sentence. */
export function roundsTable(sentence) {
  const found = sentence.words.filter((word) => word.finding).sort((a, b) => a.finding.iteration - b.finding.iteration);
  if (!found.length) return make("p", { class: "note", textContent: "Nothing was found in this sentence." });
  const rows = found.map(({ word, finding }) => [
    word, finding.kind, String(finding.iteration), finding.entropy.toFixed(3), finding.score.toFixed(3), finding.predicted, finding.gold,
  ]);
  return table("What was measured when a word was found", ["word", "kind", "round", "entropy (bits)", "score", "predicted", "gold"], rows, [2, 3, 4]);
}

function marked(word) {
  return make("span", { class: `found ${word.finding.kind}`, title: held(word.finding) }, textOf(word), sign(word.finding));
}

function textOf(word) {
  return make("span", { textContent: word.word });
}

function sign(finding) {
  return make("sup", { "aria-hidden": "true", textContent: `${SIGN[finding.kind]}${finding.iteration}` });
}

function classOf(word) {
  return word.aspect ? "aspect" : word.finding ? `found ${word.finding.kind}` : "";
}

function briefly(word) {
  return word.aspect ? "part of the aspect" : word.finding ? held(word.finding) : "not found";
}

function held(finding) {
  return `${finding.kind} since round ${finding.iteration}`;
}

function measured({ entropy, score, predicted, gold }) {
  return `Entropy ${entropy.toFixed(2)} bits, score ${score.toFixed(2)}, predicted ${predicted}, gold ${gold}.`;
}

function kindOf(finding) {
  return finding ? finding.kind : null;
}

function disagrees(sentence, word) {
  return sentence.disagrees && kindOf(word.finding) !== word.second;
}
