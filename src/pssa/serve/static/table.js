/* The columns of a table to be scored: read from its header in the browser, guessed by their names, and chosen by people. */

const LIKELY = {
  text: ["text", "review", "sentence", "comment", "body", "content", "message", "feedback"],
  aspect: ["aspect", "term", "target", "span", "feature", "topic", "entity"],
};
const HEADER_BYTES = 65536;

/** The names in the header of a CSV file; blank lines and Excel's line `sep=;` come before it. */
export async function headerOf(file) {
  const lines = (await file.slice(0, HEADER_BYTES).text()).replace(/^\uFEFF/, "").split(/\r?\n/);
  const filled = lines.filter((line) => /[^\s,;"]/.test(line));
  const given = /^"?sep=([^\w\s"])"?/i.exec(filled[0] ?? "")?.[1];
  const line = filled[given ? 1 : 0] ?? "";
  const counts = [",", ";", "\t"].map((sign) => line.split(sign).length);
  const delimiter = given ?? [",", ";", "\t"][counts.indexOf(Math.max(...counts))];
  return cells(line, delimiter).map((name) => name.trim()).filter(Boolean);
}

/** Which of the names holds the field, or nothing. */
export function guess(names, field) {
  const small = names.map((name) => name.toLowerCase());
  for (const word of LIKELY[field]) {
    const exact = small.indexOf(word);
    if (exact >= 0) return names[exact];
  }
  return names.find((_, place) => LIKELY[field].some((word) => small[place].includes(word))) ?? "";
}

/** The value of `columns` for the service; nothing where the columns have the names of their fields. */
export function columnsFor(chosen) {
  const other = Object.entries(chosen).filter(([field, column]) => column && column.toLowerCase() !== field);
  return other.map(([field, column]) => `${field}=${column}`).join(",");
}

function cells(line, delimiter) {
  const found = [""];
  let quoted = false;
  for (const sign of line) {
    if (sign === '"') quoted = !quoted;
    else if (sign === delimiter && !quoted) found.push("");
    else found[found.length - 1] += sign;
  }
  return found;
}
