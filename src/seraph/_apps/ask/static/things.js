// What is shown of a row: its picture, sound, text or cells.

import { WORDS, difference, marked, plain } from "./cells.js";
import { make } from "./page.js";
import { load } from "./transport.js";

const SHOWN = 4; // cells of a row where there is little room
const pictures = new Map(); // loaded ahead, by address
const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

export function picture({ row }, size = "large") {
  const source = `image/${size}/${row}`;
  let image = pictures.get(source);
  if (!image) {
    image = make("img");
    load(image, source).then(() => image.decode?.()).catch(() => {});
    pictures.set(source, image);
    if (pictures.size > 60) pictures.delete(pictures.keys().next().value);
  }
  return image;
}

// A row with a file or a text, and its cells beside another row; `unreadable` is called if its picture cannot be shown.
export function figure(thing, name, unreadable, other) {
  const view = make("div", { className: "view" });
  if (thing.kind === "image") {
    const image = Object.assign(picture(thing), { alt: name, draggable: false });
    const settle = () => image.classList.toggle("tiny", image.naturalWidth > 0 && image.naturalWidth <= 64);
    const fail = () => {
      image.replaceWith(make("p", { className: "missing", textContent: "This picture cannot be shown." }));
      unreadable();
    };
    Object.assign(image, { onload: settle, onerror: fail });
    if (image.src && image.complete) image.naturalWidth ? settle() : queueMicrotask(fail);
    view.append(image);
  } else if (thing.kind === "sound") {
    const audio = make("audio", { controls: true, preload: "auto", "aria-label": `Sound ${name}` });
    load(audio, `sound/${thing.row}`);
    view.append(make("span", { className: "note", textContent: "♪", "aria-hidden": "true" }), audio);
  } else if (thing.kind === "text") {
    view.append(make("p", { className: "text", dir: "auto" }, ...plain(["", thing.text])));
  } else {
    view.append(make("p", { className: "missing", textContent: "There is no file for this row." }));
  }
  return make("figure", { className: `thing ${thing.kind}`, "aria-label": name }, view, make("figcaption", { dir: "auto", textContent: thing.id }),
    thing.cells.length ? cellsOf(thing, other) : "");
}

// The cells of a row, marked where those of another one differ.
export function cellsOf(thing, other) {
  return make("dl", { className: "cells" }, ...thing.cells.map((cell, k) => {
    const how = other ? difference(cell, other.cells[k]) : "";
    const unseen = how ? make("span", { className: "unseen", textContent: ` (${WORDS[how]})` }) : "";
    return make("div", { className: how }, make("dt", { textContent: cell[0], title: cell[0] }),
      make("dd", { dir: "auto" }, ...(other ? marked(cell, other.cells[k]) : plain(cell)), unseen));
  }));
}

// Two rows side by side, by their cells.
export function rowsTable(things) {
  const head = make("tr", {}, make("td"), ...things.map((thing) => make("th", { dir: "auto", textContent: thing.id, scope: "col" })));
  const body = make("tbody", {}, ...things[0].cells.map(([name], k) => {
    const cells = things.map((thing) => thing.cells[k]);
    const how = difference(...cells);
    const unseen = how ? make("span", { className: "unseen", textContent: ` (${WORDS[how]})` }) : "";
    return make("tr", { className: how }, make("th", { scope: "row" }, name, unseen),
      ...cells.map((cell, c) => make("td", { dir: "auto" }, ...(how ? marked(cell, cells[1 - c]) : plain(cell)))));
  }));
  return make("div", { className: "table" }, make("table", { className: "rows" }, make("thead", {}, head), body));
}

export function thumbnail({ row, id }) {
  const image = make("img", { alt: id, title: id, loading: "lazy" });
  load(image, `image/small/${row}`);
  return image;
}

// A row in few words: its picture, or its name and the cells that fit.
export function brief(thing) {
  if (thing.kind === "image") return thumbnail(thing);
  const cells = thing.cells.filter(([, text]) => text);
  const lines = cells.slice(0, SHOWN).map(([name, text]) => `${name}: ${cut(text, 40)}`);
  if (thing.text) lines.unshift(cut(thing.text, 120));
  if (cells.length > SHOWN) lines.push(`and ${cells.length - SHOWN} more`);
  return make("span", {}, make("b", { dir: "auto", textContent: thing.id }), ...lines.map((line) => make("small", { dir: "auto", textContent: line })));
}
