/* Overview of a review: its files, counts, frequent words, and the exported file. */

import { make } from "./dom.js";
import { showMessage } from "./server.js";

const find = (id) => document.getElementById(id);

/** Show file names, options of the filters and frequent words; a click on one of these calls `choose(word, kind)`. */
export function showStats(stats, choose) {
  const second = stats.second ? ` · second file ${stats.second}` : "";
  const source = `${stats.evidence} · ${stats.model}, ${stats.method} by ${stats.saliency}${second} · changes are saved in ${stats.log}`;
  find("about").replaceChildren(make("b", { id: "totals" }), make("br"), source);
  find("note").hidden = !stats.note;
  find("note").textContent = stats.note;
  for (let round = 1; round <= Math.max(1, stats.iterations); round += 1) addOption("iteration", String(round), String(round));
  for (const [label, count] of Object.entries(stats.labels)) addOption("label", label, `${label} (${count})`);
  find("only-disagreements").hidden = !stats.second;
  find("only-disagreements").disabled = !stats.second;
  find("second-legend").hidden = !stats.second;
  find("frequent").replaceChildren(
    ...frequent("active", stats.active_words, choose), make("br"), ...frequent("misleading", stats.misleading_words, choose));
}

/** Show counts, and what undo would do. */
export function showTotals({ active, misleading, changes, undo }) {
  const saved = changes === 1 ? "one change" : `${changes} changes`;
  find("totals").textContent = `${active} active, ${misleading} misleading words; ${saved} saved`;
  const button = find("undo");
  button.disabled = !undo;
  button.replaceChildren(undo ? `Undo ${undo.action} “${undo.text}” ` : "Undo ", make("kbd", { textContent: "u" }));
  button.title = undo ? `in ${undo.example}` : "";
}

/** Show the exported file and the command that trains with it. */
export function showExport({ file, edits, command }) {
  const copy = make("button", { type: "button", class: "quiet", textContent: "Copy the command" });
  copy.addEventListener("click", () => copyText(command));
  const lines = make("details", {}, make("summary", { textContent: "Edits recorded in its header" }),
    make("ul", {}, ...edits.map((line) => make("li", { textContent: line }))));
  find("exported").replaceChildren(make("p", {}, "Written: ", make("b", { textContent: file })), make("p", { textContent: "Train with it:" }),
    make("pre", { id: "command", tabIndex: 0, textContent: command }), copy, lines);
  find("exported").hidden = false;
  find("exported").scrollIntoView({ block: "nearest" });
}

function addOption(field, value, textContent) {
  find(field).append(make("option", { value, textContent }));
}

function frequent(kind, words, choose) {
  const buttons = words.map(({ word, count }) => {
    const button = make("button", { type: "button", class: "link", title: `${kind} ${count} times`, textContent: word });
    button.addEventListener("click", () => choose(word, kind));
    return make("span", { class: "frequent" }, button, ` ${count}`);
  });
  return [make("b", { textContent: `Frequent ${kind} words:` }), " ", ...buttons.flatMap((button) => [button, " "])];
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    showMessage("Copied.");
  } catch {
    getSelection().selectAllChildren(find("command"));
    showMessage("Selected. Copy it with your keyboard.");
  }
}
