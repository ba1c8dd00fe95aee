/* Making elements, and moving between words by keyboard. Text is always set as text, never as markup. */

/** An element with properties and children; `class`, `data-*` and `aria-*` are attributes. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** A table with a caption, column heads and rows of text; `numbers` are the places of columns to be right-aligned. */
export function table(caption, columns, rows, numbers) {
  const cell = (tag, text, place) => make(tag, { class: numbers.includes(place) ? "number" : "", textContent: text });
  const line = (tag, texts) => make("tr", {}, ...texts.map((text, place) => cell(tag, text, place)));
  const head = line("th", columns);
  for (const cell of head.children) cell.scope = "col";
  return make("table", {}, make("caption", { textContent: caption }), make("thead", {}, head),
    make("tbody", {}, ...rows.map((row) => line("td", row))));
}

/** Give one of the buttons the only tab stop of its group, so that Tab passes a sentence in one step. */
export function setTabStop(buttons, place) {
  buttons.forEach((button, index) => { button.tabIndex = index === place ? 0 : -1; });
}

/** Where a key moves to in a row of `count` things, or null if the key does not move. */
export function moveBy(key, place, count, rightToLeft = false) {
  const forward = rightToLeft ? "ArrowLeft" : "ArrowRight";
  const back = rightToLeft ? "ArrowRight" : "ArrowLeft";
  const moved = { [forward]: place + 1, [back]: place - 1, Home: 0, End: count - 1 }[key];
  return moved === undefined ? null : Math.max(0, Math.min(count - 1, moved));
}

/** A file in the reader's downloads, and the link that gives it again. */
export function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name, textContent: name });
  link.click();
  return link;
}
