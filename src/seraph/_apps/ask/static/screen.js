// A screen of rows: tap those that are the same as the first, sort them into groups, or name them.

import { make } from "./page.js";
import { figure, cellsOf } from "./things.js";

const COLORS = 8; // of groups and classes
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

// The key of each class: its name if that is a digit, else the next free digit from 1 to 9. A name
// that is a longer number has none, since the digit of another number would mislead.
function keysOf(names) {
  const free = [..."123456789"].filter((digit) => !names.includes(digit));
  return names.map((name) => (/^\d$/.test(name) ? name : /^\d+$/.test(name) ? "" : free.shift() ?? ""));
}

export class Screen {
  constructor(things, bar, { mode, give, unreadable, say, classes }) {
    Object.assign(this, { things, mode, give, unreadable, say, classes });
    this.none = mode === "like" ? false : ""; // what a row is that was not tapped
    this.from = mode === "name" ? 0 : 1; // the first row to tap
    this.brush = mode === "sort" ? "A" : null;
    this.palette = make("div", { className: "palette", role: "group", "aria-label": mode === "sort" ? "Group for the rows that you tap" : "Name for the rows that you tap" });
    this.confirm = make("button", { type: "button", className: "confirm", "aria-keyshortcuts": "Enter" });
    this.confirm.addEventListener("click", () => this.done());
    bar.replaceChildren(...(mode === "like" ? [] : [this.palette]), this.confirm);
  }

  // Show a question, with what was said if it is asked again.
  show({ things, given }) {
    const [{ kind }] = things;
    this.question = things;
    this.marks = things.map((_, k) => (given ? given[k] ?? null : this.none));
    if (this.mode === "like") this.marks = this.marks.map((mark) => (typeof mark === "string" ? mark === "A" : mark));
    if (this.mode === "sort") this.marks = this.marks.map((mark) => (mark === true ? "A" : mark === false ? "" : mark));
    if (this.from) this.marks[0] = this.mode === "sort" ? "A" : true;
    this.brush = this.mode === "sort" ? "A" : this.brush;
    this.cursor = this.mode === "name" ? 0 : -1;
    this.things.className = `screen ${this.mode} of-${kind}${things[0].cells.length > 8 ? " many" : ""}`;
    this.things.style.setProperty("--columns", Math.max(1, things[0].cells.length));
    this.cards = things.map((thing, k) => this.#card(thing, k));
    this.things.replaceChildren(...this.cards.map(({ node }) => node));
    for (const view of this.things.querySelectorAll(".view")) if (view.scrollHeight > view.clientHeight) view.tabIndex = 0; // so that keys scroll it
    this.update();
  }

  #card(thing, k) {
    const first = k < this.from, number = String(k + 1 - this.from);
    const other = k && this.from ? this.question[0] : null;
    const view = thing.kind === "cells" ? cellsOf(thing, other) : figure(thing, thing.id, this.unreadable, other);
    const node = make("li", { className: `card${first ? " first" : ""}` }, view);
    const name = make("span", { className: "id", dir: "auto", textContent: thing.id });
    if (first) {
      node.append(make("div", { className: "foot" }, make("b", { className: "badge", textContent: this.mode === "sort" ? "A" : "First" }), name));
      return { node };
    }
    const badge = make("b", { className: "badge", "aria-hidden": "true" }), said = make("span", { className: "unseen" });
    const tap = make("button", { type: "button", className: "tap", ...(this.from ? { "aria-keyshortcuts": number } : {}) },
      ...(this.from ? [make("kbd", { textContent: number, "aria-hidden": "true" })] : []), name, said);
    const unsure = make("button", { type: "button", className: "maybe", textContent: "?", title: "Unsure", "aria-label": `Unsure about ${thing.id}` });
    node.append(make("div", { className: "foot" }, tap, badge, unsure));
    node.addEventListener("click", (event) => {
      if (event.target.closest("audio, .maybe") || (!event.target.closest("button") && !getSelection().isCollapsed)) return;
      this.toggle(k);
    });
    unsure.addEventListener("click", () => this.mark(k, this.marks[k] === null ? this.none : null));
    return { node, tap, unsure, badge, said };
  }

  // The names of groups: those in use, and one more.
  groups() {
    const last = Math.max(...this.marks.map((mark) => (mark ? mark.charCodeAt(0) - 65 : 0)));
    return Array.from({ length: Math.min(last + 2, this.marks.length) }, (_, k) => String.fromCharCode(65 + k));
  }

  toggle(k) {
    const brush = this.mode === "like" ? true : this.brush;
    if (brush !== null) this.mark(k, this.marks[k] === brush ? this.none : brush);
    else this.say("Choose a name first.");
  }

  mark(k, mark) {
    this.marks[k] = mark;
    if (this.mode === "name") this.cursor = k;
    this.update();
    this.say(`${this.question[k].id}: ${this.#words(mark)}.`);
  }

  #words(mark) {
    if (mark === null) return "unsure";
    if (mark === true) return "same";
    return mark === this.none ? (this.mode === "name" ? "no name" : "not chosen") : this.mode === "sort" ? `group ${mark}` : mark;
  }

  // Name the row of the cursor, and go to the next one without a name.
  #name(mark) {
    const at = this.cursor;
    this.mark(at, mark);
    const open = this.marks.map((value, k) => (value === "" ? k : -1)).filter((k) => k >= 0);
    this.cursor = open.find((k) => k > at) ?? open[0] ?? at;
    this.update();
  }

  choose(brush) {
    this.brush = brush;
    this.update();
  }

  update() {
    const names = this.mode === "sort" ? this.groups() : this.mode === "name" ? this.classes() : [];
    if (this.mode === "name") this.brush = names.includes(this.brush) ? this.brush : names[0] ?? null;
    const keys = this.mode === "sort" ? names : keysOf(names);
    const color = (name) => `var(--group-${names.indexOf(name) % COLORS})`;
    this.palette.replaceChildren(...names.map((name, k) => {
      const rows = this.marks.filter((mark) => mark === name).length;
      const button = make("button", { type: "button", className: "brush", "aria-pressed": name === this.brush },
        make("i", {}), this.mode === "sort" ? `Group ${name}` : name, rows ? make("small", { textContent: rows }) : "",
        keys[k] ? make("kbd", { textContent: keys[k], "aria-hidden": "true" }) : "");
      if (keys[k]) button.setAttribute("aria-keyshortcuts", keys[k]);
      button.style.setProperty("--tint", color(name));
      button.addEventListener("click", (event) => {
        this.choose(name);
        if (!event.detail) this.palette.children[k].focus(); // it was pressed by a key
      });
      return button;
    }));
    this.cards.forEach(({ node, tap, unsure, badge, said }, k) => {
      const mark = this.marks[k], chosen = mark !== this.none && mark !== null;
      node.classList.toggle("chosen", chosen);
      node.classList.toggle("unsure", mark === null);
      node.classList.toggle("current", k === this.cursor);
      if (this.mode !== "like" && chosen) node.style.setProperty("--tint", color(mark));
      else node.style.removeProperty("--tint");
      if (!tap) return;
      badge.textContent = mark === true ? "✓" : mark === null ? "?" : mark || "";
      tap.setAttribute("aria-pressed", chosen);
      said.textContent = this.mode !== "like" && chosen ? `: ${this.#words(mark)}` : "";
      unsure.setAttribute("aria-pressed", mark === null);
    });
    this.confirm.replaceChildren(this.#label(), make("kbd", { textContent: "Enter", "aria-hidden": "true" }));
  }

  #label() {
    const count = this.marks.slice(this.from).filter((mark) => mark !== null && mark !== this.none).length;
    if (this.mode === "like") return count ? `Next: ${count} the same` : "Next: none the same";
    if (this.mode === "name") return `Next: ${count} of ${plural(this.marks.length, "row")} named`;
    const alone = this.marks.filter((mark) => mark === "").length;
    return `Next: ${plural(new Set(this.marks.filter(Boolean)).size + alone, "group")}`;
  }

  done() {
    const values = this.mode === "name" ? this.marks.map((mark) => mark || null) : this.marks;
    this.give([...values], this.#label().replace("Next: ", ""));
  }

  // Whether a key means something here; then it is done.
  key(event) {
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1], key = event.key.toLowerCase();
    if (key === "enter" && !event.shiftKey) this.done();
    else if (this.mode === "name") return this.#nameKey(digit ?? key, event.shiftKey);
    else if (digit > 0 && digit < this.marks.length) event.shiftKey ? this.cards[digit].unsure.click() : this.toggle(Number(digit));
    else if (this.mode === "sort" && !event.shiftKey && this.groups().includes(key.toUpperCase())) this.choose(key.toUpperCase());
    else return false;
    return true;
  }

  #nameKey(key, shift) {
    const names = this.classes(), k = keysOf(names).indexOf(key), step = { arrowright: 1, arrowdown: 1, arrowleft: -1, arrowup: -1 }[key];
    if (shift) return false;
    if (key === " ") this.#name(null);
    else if (k >= 0) this.#name(names[k]);
    else if (step) this.cursor = Math.min(this.marks.length - 1, Math.max(0, this.cursor + step));
    else return false;
    this.update();
    return true;
  }

  // What was said, in few words.
  static summary({ given }) {
    const count = new Map();
    for (const mark of given.slice(typeof given[0] === "boolean" ? 1 : 0)) {
      const word = mark === true ? "the same" : mark === false ? "different" : mark === null ? "unsure" : mark || "alone";
      count.set(word, (count.get(word) ?? 0) + 1);
    }
    return [...count].map(([word, n]) => `${n} ${word}`).join(", ");
  }
}
