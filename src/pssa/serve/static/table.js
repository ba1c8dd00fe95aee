/* A table to be scored: its encoding, and its columns, which are read from its header, guessed by their names, and chosen by people. */

const LIKELY = {
  text: ["text", "review", "sentence", "comment", "body", "content", "message", "feedback"],
  aspect: ["aspect", "term", "target", "span", "feature", "topic", "entity"],
};
const HEADER_BYTES = 65536;

/** The text of a CSV file, or of its beginning, and its encoding; programs that write no UTF-8 write Windows-1252, or UTF-16 with a mark. */
export async function decode(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mark = bytes[0] * 256 + bytes[1];
  if (mark === 0xfffe || mark === 0xfeff) {
    const encoding = mark === 0xfffe ? "utf-16le" : "utf-16be";
    return { text: new TextDecoder(encoding).decode(bytes), encoding, hasMark: true };
  }
  const hasMark = mark === 0xefbb && bytes[2] === 0xbf;
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }), encoding: "utf-8", hasMark };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "windows-1252", hasMark };
  }
}

/** The names in the header of a CSV file; blank lines and Excel's line `sep=;` come before it. */
export async function headerOf(file) {
  const lines = (await decode(file.slice(0, HEADER_BYTES))).text.split(/\r?\n/);
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
