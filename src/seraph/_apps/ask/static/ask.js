// The page: shows the question, sends the answer, and shows what has been learned.

import { drawChart } from "./chart.js";
import { PointMap } from "./map.js";
import { make } from "./page.js";
import { brief, cellsOf, figure, picture, rowsTable, thumbnail } from "./things.js";

const { mode, making, made, first, second, measure } = document.body.dataset;
const byClass = mode === "classes";
const $ = (id) => document.getElementById(id);
let state = null;
let shownKey = null;
let waiting = false;
let changes = 0; // sent by this page: what was asked for before one is out of date
let version = -1;
let ending = false;
let listed = -1; // answers in the list of past ones
const added = []; // classes that have no answer yet
const classes = () => [...new Set([...state.classes, ...added])];
const namesOf = (things) => things.map((thing) => thing.id).join(" and ");

// Screen readers read a live region again whenever its text is set.
function write(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

// Requests

class Problem extends Error {}

async function ask(path, body) {
  let response;
  try {
    response = await fetch(path, body === undefined ? {} : {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Problem("The server does not answer. Your answers are on disk: start the same command again, and open the address that it prints.");
  }
  const value = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(value.problem ?? "This page belongs to an earlier run: open the address that the command printed last.");
  return value;
}

// A message stays until what it says is no longer true: one about the server until that answers,
// any other until the next answer is saved.
let about = null;

function complain(text, subject = "answer") {
  about = text ? subject : null;
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

// Send a change, show what is true after it, and say so; null if that failed.
async function change(path, body, said = "") {
  if (waiting) return null;
  waiting = true;
  changes += 1;
  try {
    const next = await ask(path, body);
    complain(next.elsewhere ? "That question was answered in another tab. Here is the current one." : "");
    show(next);
    $("said").textContent = next.elsewhere ? "" : said;
    return next;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    complain(error.message);
    return null;
  } finally {
    waiting = false;
  }
}

async function refresh() {
  if (waiting || document.hidden) return;
  const before = changes;
  try {
    const next = await ask("state");
    if (waiting || changes !== before) return;
    if (about === "server") complain("");
    show(next);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    complain(error.message, "server");
  }
}

// The question

function showQuestion(question) {
  const box = $("things");
  $("before-this").hidden = !question?.again;
  if (question?.key === shownKey) return;
  shownKey = question?.key ?? null;
  if (!question) {
    box.className = "things one";
    box.replaceChildren(make("p", { className: "missing", textContent: "There is nothing left to ask. Finish to get the result." }));
    return;
  }
  const { things } = question;
  if (things[0].kind === "cells") {
    box.className = "things rows";
    box.replaceChildren(rowsTable(things));
  } else {
    const all = (kind) => (things.every((thing) => thing.kind === kind) ? ` ${kind}s` : "");
    box.className = `things${byClass ? " one" : ""}${all("text")}${all("sound")}`;
    box.replaceChildren(...things.map((thing, k) => {
      const name = byClass ? thing.id : `${k ? "Right" : "Left"}: ${thing.id}`;
      const shown = figure(thing, name, refresh); // the server then has another question
      if (thing.cells.length) shown.append(cellsOf(thing, things[1 - k]));
      return shown;
    }));
  }
}

// Answers

function answerButton(value, label, className, key, shortcut = key) {
  const button = make("button", { type: "button", className }, label);
  if (key) {
    button.setAttribute("aria-keyshortcuts", shortcut);
    button.append(make("kbd", { textContent: key, "aria-hidden": "true" }));
  }
  button.dataset.value = value;
  button.addEventListener("click", () => give(value));
  return button;
}

// The key of each class: its name if that is a digit, else the next free digit from 1 to 9. A name
// that is a longer number has none, since the digit of another number would mislead.
function keysOf(names) {
  const free = [..."123456789"].filter((digit) => !names.includes(digit));
  return names.map((name) => (/^\d$/.test(name) ? name : /^\d+$/.test(name) ? "" : free.shift() ?? ""));
}

function showButtons() {
  const box = $("answers"), names = byClass ? classes() : ["different", "same"];
  if (box.children.length !== names.length + 1) {
    const keys = byClass ? keysOf(names) : [];
    const unsure = answerButton("unsure", "Unsure", "unsure", "Space");
    box.replaceChildren(...(byClass
      ? [...names.map((name, k) => answerButton(`class:${name}`, name, "class", keys[k])), unsure]
      : [answerButton("different", "Different", "different", "←", "ArrowLeft"), unsure, answerButton("same", "Same", "same", "→", "ArrowRight")]));
  }
  for (const button of box.children) button.setAttribute("aria-disabled", !state.question);
}

async function give(value) {
  if (waiting || !shownKey) return;
  const start = performance.now();
  const button = [...$("answers").children].find((b) => b.dataset.value === value);
  button?.classList.add("given");
  const next = await change("answer", { key: shownKey, value }, `Saved: ${value.replace("class:", "")}. `);
  if (next) {
    if (next.question) $("said").textContent += `Next: ${namesOf(next.question.things)}.`;
    $("question").focus({ preventScroll: true });
    requestAnimationFrame(() => performance.measure("next question", { start, end: performance.now() }));
  }
  setTimeout(() => button?.classList.remove("given"), 150);
}

const undo = () => state?.counts.answers && change("undo", { answers: state.counts.answers }, "The last answer was taken back.");
const again = (keys) => change("again", { keys }, "Asked again.").then((done) => done && $("question").focus());

async function showPast() {
  if (!$("past").open) return;
  const answers = await ask("answers").catch(() => null); // the next answer says what is wrong
  if (!answers) return;
  $("past-list").replaceChildren(...answers.map(({ key, things, value, test }) => {
    const shown = things.map((thing) => (thing.kind === "image" ? thumbnail(thing) : make("span", { dir: "auto", textContent: thing.id })));
    const button = make("button", { type: "button", className: "link", textContent: "Ask again", "aria-label": `Ask again: ${namesOf(things)}` });
    button.addEventListener("click", () => again([key]));
    return make("li", {}, ...shown, make("b", { textContent: value }), test ? make("small", { textContent: "test" }) : "", button);
  }));
}

// What has been learned

function showCounts({ counts }) {
  const kinds = Object.entries(counts.kinds).filter(([, n]) => n || !byClass);
  const parts = kinds.map(([name, n]) => (byClass ? `${name} (${n})` : `${n} ${name}`));
  if (counts.unsure) parts.push(`${counts.unsure} unsure`);
  const noun = counts.answers === 1 ? "answer" : "answers";
  $("counts").textContent = counts.answers ? `${counts.answers} ${noun}: ${parts.join(", ")}` : "No answers yet.";
  const colors = [...kinds.map(([name, n]) => [byClass ? "class" : name, n]), ["unsure", counts.unsure]];
  $("bar").replaceChildren(...colors.filter(([, n]) => n).map(([className, n]) => {
    const part = make("i", { className });
    part.style.flexGrow = n;
    return part;
  }));
  $("undo").disabled = !counts.answers;
}

function showLearning({ judgments, advice, stop, doubts }) {
  showDoubts(doubts);
  write("advice", advice);
  $("advice").classList.toggle("stop", stop);
  $("finish").classList.toggle("ready", stop);
  $("scores").hidden = $("chart").hidden = $("explained").hidden = !judgments.length;
  if (!judgments.length) return;
  const { figures } = judgments[judgments.length - 1];
  figures.forEach(({ value, low, high }, k) => $(k ? "second" : "first").replaceChildren(
    value.toFixed(2), make("small", { textContent: `${low.toFixed(2)} to ${high.toFixed(2)}` })));
  $("chart").setAttribute("aria-label", `${measure}: ${first} ${figures[0].value.toFixed(2)}, ${second} ${figures[1].value.toFixed(2)}`);
  drawChart($("chart"), judgments);
}

new ResizeObserver(() => $("chart").hidden || drawChart($("chart"), state.learning.judgments)).observe($("chart"));

function showDoubts(doubts) {
  $("doubts").hidden = !doubts.length;
  $("doubted").textContent = doubts.length === 1 ? "1 answer looks wrong" : `${doubts.length} answers look wrong`;
  $("doubt-list").replaceChildren(...doubts.map(({ things, value }) => make("li", {},
    make("p", {}, "You said ", make("b", { textContent: value }), ", unlike the others."),
    things[0].cells.length ? rowsTable(things) : namesOf(things))));
  $("again").onclick = () => again(doubts.map(({ key }) => key));
}

// The map, and a look at the row behind a point

const map = $("map") && new PointMap($("map"), showTip);
let tipFor = null;

async function showTip(row, x, y) {
  tipFor = row;
  const tip = $("tip");
  if (row === null) tip.hidden = true;
  const thing = row === null ? null : await ask(`thing/${row}`).catch(() => null); // the next answer says what is wrong
  if (!thing || tipFor !== row) return;
  const image = thing.kind === "image" ? Object.assign(picture(thing, "small"), { alt: "" }) : "";
  tip.replaceChildren(image, image ? make("b", { textContent: thing.id }) : brief(thing));
  tip.hidden = false;
  const { clientWidth: width, clientHeight: height } = $("map");
  tip.style.left = `${Math.max(4, Math.min(x + 12, width - tip.offsetWidth - 4))}px`;
  tip.style.top = y > height / 2 ? "auto" : `${y + 12}px`;
  tip.style.bottom = y > height / 2 ? `${height - y + 12}px` : "auto";
}

async function showMap() {
  if (!map || state.version === version) return;
  version = state.version;
  try {
    const data = await ask("picture");
    map.update(data);
    $("map").dataset.version = data.version;
    $("map-note").textContent = data.learned ? "Point to look, drag, zoom." : "Nothing learned yet.";
  } catch {
    version = -1;
  }
}

if (map) {
  for (const side of ["before", "after"]) {
    $(side).addEventListener("click", () => {
      map.show(side);
      for (const which of ["before", "after"]) $(which).setAttribute("aria-pressed", which === side);
    });
  }
  $("zoom-in").addEventListener("click", () => map.zoom(1.4));
  $("zoom-out").addEventListener("click", () => map.zoom(1 / 1.4));
  $("zoom-reset").addEventListener("click", () => map.reset());
}

// The end

function showEnd({ finish, counts, learning }) {
  $("ask").hidden = $("finish").hidden = ending;
  $("end").hidden = !ending;
  if (!ending) return;
  $("end-count").textContent = counts.answers;
  $("end-summary").textContent = learning.verdict || "There are too few answers to say how good it is.";
  $("end-status").classList.toggle("working", finish.status === "running");
  write("end-status", {
    running: `${making}, ${finish.seconds} s`,
    done: `${made} in the folder of your answers: ${Object.values(finish.files).join(" and ")}.`,
    failed: `This failed: ${finish.message}`,
    none: "",
  }[finish.status]);
  $("end-status").hidden = finish.status === "none";
  write("command", finish.command);
  if ($("then")) write("then", finish.then);
  for (const [name, file] of Object.entries(finish.files)) {
    if (name === "model") $("get-model").download = file;
    $(`get-${name}`).querySelector("span").textContent = file;
  }
  for (const node of document.querySelectorAll(".made")) node.hidden = finish.status !== "done";
}

async function finish() {
  if (!await change("end", {})) return;
  history.pushState("end", ""); // so that Back leads to the questions, and does not leave the page
  turn(true);
}

// Show the end, or the questions.
function turn(toEnd) {
  ending = toEnd;
  show(state);
  $(ending ? "end-title" : "question").focus();
}

// All of it

function show(next) {
  state = next;
  showButtons();
  showQuestion(next.question);
  showCounts(next);
  showLearning(next.learning);
  showEnd(next);
  for (const thing of next.upcoming.flatMap((question) => question.things)) if (thing.kind === "image") picture(thing);
  showMap();
  if (next.counts.answers !== listed) {
    listed = next.counts.answers;
    showPast();
  }
}

document.addEventListener("keydown", (event) => {
  if (ending || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const { target } = event;
  const key = event.key.toLowerCase(); // Caps Lock changes no answer
  if (target.matches("input, textarea, select")) return;
  if (key === " " && target.matches("button, a, audio, summary")) return;
  const values = { " ": "unsure" };
  if (byClass && state) keysOf(classes()).forEach((digit, k) => { if (digit) values[digit] = `class:${classes()[k]}`; });
  else Object.assign(values, { arrowleft: "different", arrowright: "same" });
  if (key === "u") undo();
  else if (values[key]) give(values[key]);
  else return;
  event.preventDefault();
});
$("undo").addEventListener("click", undo);
$("past").addEventListener("toggle", showPast);
$("finish").addEventListener("click", finish);
$("back").addEventListener("click", () => history.back());
addEventListener("popstate", (event) => turn(event.state === "end"));
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("command").textContent);
  $("copy").textContent = "Copied";
});
if (byClass) {
  const add = () => {
    const name = $("another").value.trim();
    if (!name || !state) return;
    $("another").value = "";
    added.push(name);
    showButtons();
    $("said").textContent = `Added: ${name}.`;
    $("question").focus({ preventScroll: true }); // so that keys answer again
  };
  $("add").addEventListener("click", add);
  $("another").addEventListener("keydown", (event) => event.key === "Enter" && add());
}
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, 1500);
refresh();
