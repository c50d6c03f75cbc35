// Two records: the same, or different?

import { make } from "./page.js";
import { figure, rowsTable } from "./things.js";

const ANSWERS = [
  ["different", "Different", "←", "ArrowLeft", false],
  ["unsure", "Unsure", "Space", "Space", null],
  ["same", "Same", "→", "ArrowRight", true],
];
const wordFor = (value) => ANSWERS.find((answer) => answer[4] === value)[0];

export class Pair {
  constructor(things, bar, { give, unreadable }) {
    Object.assign(this, { things, give, unreadable });
    bar.replaceChildren(...ANSWERS.map(([name, label, key, shortcut, value]) => {
      const button = make("button", { type: "button", className: name, "aria-keyshortcuts": shortcut }, label,
        make("kbd", { textContent: key, "aria-hidden": "true" }));
      button.addEventListener("click", () => this.say(value));
      return button;
    }));
  }

  show({ things }) {
    const cells = things[0].kind === "cells";
    const kind = things.every((thing) => thing.kind === things[0].kind) ? things[0].kind : "";
    this.things.className = cells ? "things rows" : `things ${kind}s`;
    this.things.replaceChildren(...(cells ? [rowsTable(things)]
      : things.map((thing, k) => figure(thing, `${k ? "Right" : "Left"}: ${thing.id}`, this.unreadable, things[1 - k]))));
  }

  say(value) {
    this.give([true, value], wordFor(value));
  }

  key(event) {
    const answer = ANSWERS.find(([, , , shortcut]) => shortcut === (event.key === " " ? "Space" : event.key));
    if (answer && !event.shiftKey) this.say(answer[4]);
    return Boolean(answer);
  }

  static summary = ({ given }) => wordFor(given[1]);
}
