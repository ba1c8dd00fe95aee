/* A sentence of evidence: its words with signs, a line about one word, and a table of the rounds. */

import { make, table } from "./dom.js";

const SIGN = { active: "+", misleading: "−" };

/** Return the sentence as a line of the list. */
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

/** Return the sentence as one button per word, with the space between them. */
export function sentenceButtons(sentence) {
  return sentence.words.flatMap((word, place) => {
    const gap = place && sentence.words[place - 1].to < word.from ? " " : make("wbr");
    const button = make("button", { type: "button", class: `word ${classOf(word)}`, "data-place": place }, textOf(word));
    if (word.finding) button.append(sign(word.finding));
    if (disagrees(sentence, word)) button.append(make("sup", { class: "second", textContent: `≠${SIGN[word.second] ?? "○"}` }));
    button.setAttribute("aria-label", `${word.word}, ${describe(word)}`);
    button.title = describe(word);
    return [gap, button];
  });
}

/** Return one line with everything that is known about a word. */
export function wordLine(sentence, word) {
  const parts = [`“${word.word}” is ${describe(word)}.`];
  if (word.finding) parts.push(describeMeasurements(word.finding));
  if (kindOf(word.mined) !== kindOf(word.finding)) parts.push(`In the file it is ${word.mined ? describeFinding(word.mined) : "not evidence"}.`);
  if (disagrees(sentence, word)) parts.push(`In the second file it is ${word.second ?? "not evidence"}.`);
  return parts.join(" ");
}

/** Return a table of what each round found in a sentence. */
export function roundsTable(sentence) {
  const found = sentence.words.filter((word) => word.finding).sort((a, b) => a.finding.iteration - b.finding.iteration);
  if (!found.length) return make("p", { class: "note", textContent: "This sentence has no evidence." });
  const rows = found.map(({ word, finding }) => [
    word, finding.kind, String(finding.iteration), finding.entropy.toFixed(3), finding.score.toFixed(3), finding.predicted, finding.gold,
  ]);
  return table("Measurements when a word was found", ["word", "kind", "round", "entropy (bits)", "score", "predicted", "gold"], rows, [2, 3, 4]);
}

function marked(word) {
  return make("span", { class: `found ${word.finding.kind}`, title: describeFinding(word.finding) }, textOf(word), sign(word.finding));
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

function describe(word) {
  return word.aspect ? "part of the aspect" : word.finding ? describeFinding(word.finding) : "not evidence";
}

function describeFinding(finding) {
  return `${finding.kind}, found in round ${finding.iteration}`;
}

function describeMeasurements({ entropy, score, predicted, gold }) {
  return `Entropy ${entropy.toFixed(2)} bits, score ${score.toFixed(2)}, predicted ${predicted}, gold ${gold}.`;
}

function kindOf(finding) {
  return finding ? finding.kind : null;
}

function disagrees(sentence, word) {
  return sentence.disagrees && kindOf(word.finding) !== word.second;
}
