/* Texts as the server counts them: words, and offsets in Unicode code points, where JavaScript counts UTF-16 units. */

// The server's own rule for words; it cuts again at the ends of an aspect, so the two need not agree on every odd character.
const LETTERS = String.raw`(?:[\p{L}\p{N}][\p{M}\u200c\u200d]*)+`;
const PICTURES = String.raw`[#*\xa9\xae\u203c\u2049\u2122\u2190-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1f3fa}\u{1f400}-\u{1faff}]`;
const CHANGED = String.raw`${PICTURES}[\ufe0e\ufe0f\u20e3\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]*`;
const EMOJI = String.raw`[\u{1f1e6}-\u{1f1ff}]{2}|${CHANGED}(?:\u200d${CHANGED})*`;
const WORD = new RegExp(String.raw`\$?\p{Nd}+(?:[.,:]\p{Nd}+)+|\$\p{Nd}+|${LETTERS}(?:[\-/]${LETTERS})*|${EMOJI}|\S`, "gu");

/** The words of a text: each with its text, its offsets in code points, and the white space before it. */
export function wordsOf(text) {
  const words = [];
  let unit = 0;
  let point = 0;
  for (const match of text.matchAll(WORD)) {
    const gap = text.slice(unit, match.index);
    const from = point + countPoints(gap);
    const to = from + countPoints(match[0]);
    words.push({ text: match[0], gap, from, to });
    unit = match.index + match[0].length;
    point = to;
  }
  return words;
}

/** How many characters the server sees in a text. */
export function countPoints(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A text as an array of what the server calls characters, for slicing by its offsets. */
export function points(text) {
  return [...text];
}

/** Neighbouring marked words, as aspects in the server's offsets. */
export function aspectsOf(words, marked) {
  const aspects = [];
  words.forEach((word, place) => {
    if (!marked.has(place)) return;
    if (place && marked.has(place - 1)) aspects.at(-1).to = word.to;
    else aspects.push({ from: word.from, to: word.to });
  });
  return aspects;
}

/** The words that lie in one of the spans, in the server's offsets, as marks. */
export function markSpans(words, spans) {
  const marked = new Set();
  words.forEach((word, place) => {
    if (spans.some((span) => span.from < word.to && word.from < span.to)) marked.add(place);
  });
  return marked;
}

/** The marks after an edit: words before and behind the place of the edit keep theirs. */
export function carryMarks(before, after, marked) {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head].text === after[head].text) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail).text === after.at(-1 - tail).text) tail += 1;
  const kept = new Set();
  for (const place of marked) {
    if (place < head) kept.add(place);
    else if (place >= before.length - tail) kept.add(place + after.length - before.length);
  }
  return kept;
}
