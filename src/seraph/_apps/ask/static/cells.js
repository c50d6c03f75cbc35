// How two cells differ: numbers by how far they are apart, texts letter by letter or word by word.

import { make } from "./page.js";

// Words for screen readers; the keys are classes of the style sheet.
export const WORDS = { near: "a little apart", apart: "apart", far: "far apart", differs: "differs" };
const LONGEST = 400; // letters that are compared one by one; longer texts by their words

// A cell is its column, its text, and its number in units of the column's spread, if it is one.
export function difference([, a, x], [, b, y]) {
  if (a === b || !a || !b) return ""; // nobody knows whether a missing cell differs
  if (x === null || y === null) return "differs";
  const gap = Math.abs(x - y);
  return gap < 0.1 ? "" : gap < 0.5 ? "near" : gap < 1.5 ? "apart" : "far";
}

// The text of a cell, or that it is missing.
export const plain = ([, text]) => [text || make("span", { className: "none", textContent: "missing" })];

// The text of a cell, with those parts marked that the other one does not have.
export function marked([, text, x], [, other]) {
  if (x !== null || text === other || !text || !other) return plain(["", text]);
  const long = Math.max(text.length, other.length) > LONGEST;
  const [parts, others] = [text, other].map((t) => (long ? t.split(/(?<=\s)/) : [...t]));
  const kept = common(parts, others);
  // Two words that have nothing to do with each other share a few letters, too.
  if (2 * kept.size < Math.max(parts.length, others.length)) return [text];
  const runs = [];
  parts.forEach((part, k) => {
    const last = runs[runs.length - 1];
    if (last && last.same === kept.has(k)) last.text += part;
    else runs.push({ same: kept.has(k), text: part });
  });
  return runs.map((run) => (run.same ? run.text : make("mark", { textContent: run.text })));
}

// Places in a of a longest common subsequence with b.
function common(a, b) {
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const kept = new Set();
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) { kept.add(i++); j++; }
    else if (best[i + 1][j] >= best[i][j + 1]) i++;
    else j++;
  }
  return kept;
}
