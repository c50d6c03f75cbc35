// The page: shows the question, sends the answer, and shows what has been learned.

import { drawChart } from "./chart.js";
import { WORDS, difference, plain, marked } from "./cells.js";
import { PointMap } from "./map.js";
import { make } from "./page.js";

const byClass = document.body.dataset.mode === "classes";
const $ = (id) => document.getElementById(id);
const pictures = new Map(); // loaded ahead, by address
let state = null;
let shownKey = null;
let waiting = false;
let changes = 0; // sent by this page: what was asked for before one is out of date
let version = -1;
let ending = false;
const SHOWN = 4; // cells of a row where there is little room
let listed = -1; // answers in the list of past ones
const added = []; // classes that have no answer yet
const classes = () => [...new Set([...state.classes, ...added])];

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

// The question

function picture(thing, size) {
  const source = `image/${size}/${thing.row}`;
  let image = pictures.get(source);
  if (!image) {
    image = new Image();
    image.src = source;
    image.decode?.().catch(() => {});
    pictures.set(source, image);
    if (pictures.size > 60) pictures.delete(pictures.keys().next().value);
  }
  return image;
}

function figureOf(thing, side) {
  const name = byClass ? thing.id : `${side}: ${thing.id}`;
  const view = make("div", { className: "view" });
  const figure = make("figure", { className: `thing ${thing.kind}`, "aria-label": name }, view);
  if (thing.kind === "image") {
    const image = picture(thing, "large");
    image.alt = name;
    image.draggable = false;
    const settle = () => image.classList.toggle("tiny", image.naturalWidth > 0 && image.naturalWidth <= 64);
    const fail = () => {
      image.replaceWith(make("p", { className: "missing", textContent: "This picture cannot be shown." }));
      refresh(); // the server knows it now, and has another question
    };
    if (image.complete) image.naturalWidth ? settle() : queueMicrotask(fail);
    else {
      image.onload = settle;
      image.onerror = fail;
    }
    view.append(image);
  } else if (thing.kind === "sound") {
    view.append(
      make("span", { className: "note", textContent: "♪", "aria-hidden": "true" }),
      make("audio", { controls: true, preload: "auto", src: `sound/${thing.row}`, "aria-label": `Sound ${name}` }),
    );
  } else if (thing.kind === "text") {
    view.append(make("p", { className: "text", dir: "auto" }, ...plain(["", thing.text])));
  } else {
    view.append(make("p", { className: "missing", textContent: "There is no file for this row." }));
  }
  figure.append(make("figcaption", { dir: "auto", textContent: thing.id }));
  return figure;
}

function cellsOf(thing, other) {
  const table = make("table", { className: "cells" });
  thing.cells.forEach((cell, k) => {
    const row = make("tr", {}, make("th", { textContent: cell[0], scope: "row" }), make("td", { dir: "auto" }, ...(other ? marked(cell, other.cells[k]) : plain(cell))));
    row.className = other ? difference(cell, other.cells[k]) : "";
    table.append(row);
  });
  return table;
}

function rowsTable(things) {
  const head = make("tr", {}, make("td"));
  for (const thing of things) head.append(make("th", { dir: "auto", textContent: thing.id, scope: "col" }));
  const body = make("tbody");
  things[0].cells.forEach(([name], k) => {
    const cells = things.map((thing) => thing.cells[k]);
    const how = cells.length > 1 ? difference(...cells) : "";
    const row = make("tr", { className: how },
      make("th", { scope: "row" }, name, how ? make("span", { className: "unseen", textContent: ` (${WORDS[how]})` }) : ""));
    cells.forEach((cell, c) => row.append(make("td", { dir: "auto" }, ...(how ? marked(cell, cells[1 - c]) : plain(cell)))));
    body.append(row);
  });
  return make("div", { className: "table" }, make("table", { className: "rows" }, make("thead", {}, head), body));
}

function showQuestion(question) {
  const box = $("things");
  $("before-this").hidden = !question?.again;
  if (!question) {
    shownKey = null;
    box.className = "things one";
    box.replaceChildren(make("p", { className: "missing", textContent: "There is nothing left to ask. Finish to get the result." }));
    setButtons(true);
    return;
  }
  if (question.key === shownKey) return;
  shownKey = question.key;
  const { things } = question;
  if (things[0].kind === "cells") {
    box.className = "things rows";
    box.replaceChildren(rowsTable(things));
  } else {
    const all = (kind) => (things.every((thing) => thing.kind === kind) ? ` ${kind}s` : "");
    box.className = `things${byClass ? " one" : ""}${all("text")}${all("sound")}`;
    box.replaceChildren(...things.map((thing, k) => {
      const figure = figureOf(thing, k ? "Right" : "Left");
      if (thing.cells.length) figure.append(cellsOf(thing, things[1 - k]));
      return figure;
    }));
  }
}

// Answers

const CHOICES = [
  ["different", "Different", "←", "ArrowLeft"],
  ["unsure", "Unsure", "Space", " "],
  ["same", "Same", "→", "ArrowRight"],
];

function answerButton(value, label, key, className, shortcut) {
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
  const box = $("answers");
  if (!byClass) {
    if (!box.children.length) {
      box.append(...CHOICES.map(([value, label, key, shortcut]) =>
        answerButton(value, label, key, value, shortcut === " " ? "Space" : shortcut)));
    }
    return;
  }
  const names = classes();
  if (box.children.length === names.length + 1) return;
  const keys = keysOf(names);
  box.replaceChildren(
    ...names.map((name, k) => answerButton(`class:${name}`, name, keys[k], "class", keys[k])),
    answerButton("unsure", "Unsure", "Space", "unsure", "Space"),
  );
}

function setButtons(disabled) {
  for (const button of $("answers").children) button.setAttribute("aria-disabled", disabled);
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

async function give(value) {
  if (waiting || !shownKey) return;
  const start = performance.now();
  const button = [...$("answers").children].find((b) => b.dataset.value === value);
  button?.classList.add("given");
  const next = await change("answer", { key: shownKey, value }, `Saved: ${value.replace("class:", "")}. `);
  if (next) {
    if (next.question) $("said").textContent += `Next: ${next.question.things.map((t) => t.id).join(" and ")}.`;
    $("question").focus({ preventScroll: true });
    requestAnimationFrame(() => performance.measure("next question", { start, end: performance.now() }));
  }
  setTimeout(() => button?.classList.remove("given"), 150);
}

const undo = () => state?.counts.answers && change("undo", { answers: state.counts.answers }, "The last answer was taken back.");
const skip = () => shownKey && change("skip", { key: shownKey }, "The question comes back later.");
const again = (keys) => change("again", { keys }, "Asked again.").then((done) => done && $("question").focus());

const thumbnail = ({ row, id }) => make("img", { src: `image/small/${row}`, alt: id, title: id, loading: "lazy" });

async function showPast() {
  if (!$("past").open) return;
  const answers = await ask("answers").catch(() => null); // the next answer says what is wrong
  if (!answers) return;
  $("past-list").replaceChildren(...answers.map(({ key, things, value, test }) => {
    const shown = things.map((thing) => (thing.kind === "image" ? thumbnail(thing) : make("span", { dir: "auto", textContent: thing.id })));
    const button = make("button", { type: "button", className: "link", textContent: "Ask again", "aria-label": `Ask again: ${things.map((t) => t.id).join(" and ")}` });
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
  $("skip").disabled = !state.question;
}

const score = (auc) => [auc.value.toFixed(2), make("small", { textContent: `${auc.low.toFixed(2)} to ${auc.high.toFixed(2)}` })];

function showLearning({ learning, counts }) {
  const { judgments, advice, stop, doubts } = learning;
  showDoubts(doubts);
  write("advice", advice);
  $("advice").classList.toggle("stop", stop);
  $("finish").classList.toggle("ready", stop);
  $("scores").hidden = $("chart").hidden = $("explained").hidden = !judgments.length;
  if (!judgments.length) return;
  const now = judgments[judgments.length - 1];
  $("learned").replaceChildren(...score(now.learned));
  $("euclidean").replaceChildren(...score(now.euclidean));
  $("chart").setAttribute("aria-label", `AUC on ${counts.tests} test answers: learned ${now.learned.value.toFixed(2)}, Euclidean ${now.euclidean.value.toFixed(2)}`);
  drawChart($("chart"), judgments);
}

new ResizeObserver(() => $("chart").hidden || drawChart($("chart"), state.learning.judgments)).observe($("chart"));

function showDoubts(doubts) {
  $("doubts").hidden = !doubts.length;
  $("doubted").textContent = doubts.length === 1 ? "1 answer looks wrong" : `${doubts.length} answers look wrong`;
  $("doubt-list").replaceChildren(...doubts.map(({ things, value, why }) => {
    const said = make("p", {}, "You said ", make("b", { textContent: value }), `, which ${why}.`);
    return make("li", {}, said, things[0].cells.length ? rowsTable(things) : things.map((thing) => thing.id).join(" and "));
  }));
  $("again").onclick = () => again(doubts.map(({ key }) => key));
}

const map = new PointMap($("map"), showTip);
let tipFor = null;

async function showTip(row, x, y) {
  tipFor = row;
  if (row === null) {
    $("tip").hidden = true;
    return;
  }
  let thing;
  try {
    thing = await ask(`thing/${row}`);
  } catch {
    return; // the next answer says what is wrong
  }
  if (tipFor !== row) return;
  const tip = $("tip");
  const parts = [make("b", { textContent: thing.id })];
  if (thing.kind === "image") {
    const image = picture(thing, "small");
    image.alt = "";
    parts.unshift(image);
  } else if (thing.text) parts.push(make("span", { textContent: cut(thing.text, 140) }));
  parts.push(...thing.cells.slice(0, SHOWN).map(([name, text]) => make("div", {}, `${name}: `, ...plain(["", cut(text, 60)]))));
  tip.replaceChildren(...parts);
  tip.hidden = false;
  const width = $("map").clientWidth, height = $("map").clientHeight;
  tip.style.left = `${Math.max(4, Math.min(x + 12, width - tip.offsetWidth - 4))}px`;
  tip.style.top = y > height / 2 ? "auto" : `${y + 12}px`;
  tip.style.bottom = y > height / 2 ? `${height - y + 12}px` : "auto";
}

async function showPicture() {
  const wanted = state.version;
  if (wanted === version) return;
  version = wanted;
  try {
    const data = await ask("picture");
    map.update(data);
    $("map").dataset.version = data.version;
    $("map-note").textContent = data.learned ? "Point to look, drag, zoom." : "Nothing learned yet.";
  } catch {
    version = -1;
  }
}

function side(name) {
  map.show(name);
  for (const which of ["before", "after"]) $(which).setAttribute("aria-pressed", which === name);
}

// The end

function showEnd({ finish, counts, learning }) {
  $("ask").hidden = $("finish").hidden = ending;
  $("end").hidden = !ending;
  if (!ending) return;
  const { making, made } = document.body.dataset;
  $("end-count").textContent = counts.answers;
  $("end-summary").textContent = learning.verdict || "The test has too few answers to say how good it is.";
  $("end-status").classList.toggle("working", finish.status === "running");
  write("end-status", {
    running: `${making}, ${finish.seconds} s`,
    done: `${made} are in the folder of your answers.`,
    failed: `This failed: ${finish.message}`,
    canceled: "Canceled. Your answers are kept; finish again whenever you like.",
    none: "",
  }[finish.status]);
  $("end-status").hidden = finish.status === "none";
  $("stopping").hidden = finish.status !== "running";
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
  if (ending) showNearest();
}

// What learning has changed: the nearest rows of one row, by both distances.
async function showNearest() {
  const known = map.data.pairs.map(([place]) => map.data.rows[place]);
  const row = known[Math.floor(Math.random() * known.length)];
  const found = row === undefined ? null : await ask(`neighbors/${row}`).catch(() => null);
  $("payoff").hidden = !found;
  if (!found) return;
  $("nearest").replaceChildren(...[["This row", [found.row]], ["Before", found.before], ["After", found.after]].map(
    ([title, things]) => make("div", {}, make("b", { textContent: title }), make("p", {}, ...things.map(small)))));
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// A row in few words: its picture, or its name and the cells that fit.
function small(thing) {
  if (thing.kind === "image") return thumbnail(thing);
  const cells = thing.cells.filter(([, text]) => text);
  const lines = cells.slice(0, SHOWN).map(([name, text]) => make("small", { dir: "auto", textContent: `${name}: ${cut(text, 40)}` }));
  if (thing.text) lines.unshift(make("small", { dir: "auto", textContent: cut(thing.text, 120) }));
  if (cells.length > SHOWN) lines.push(make("small", { textContent: `and ${cells.length - SHOWN} more` }));
  return make("span", {}, make("b", { dir: "auto", textContent: thing.id }), ...lines);
}

// All of it

function show(next) {
  state = next;
  showButtons();
  setButtons(!next.question);
  showQuestion(next.question);
  showCounts(next);
  showLearning(next);
  showEnd(next);
  for (const question of next.upcoming) {
    for (const thing of question.things) if (thing.kind === "image") picture(thing, "large");
  }
  showPicture();
  if (next.counts.answers !== listed) {
    listed = next.counts.answers;
    showPast();
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

document.addEventListener("keydown", (event) => {
  if (ending || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const { target } = event;
  const key = event.key.toLowerCase(); // Caps Lock changes no answer
  if (target.matches("input, textarea, select")) return;
  if (key === " " && target.matches("button, a, audio, summary")) return;
  const place = byClass && /^\d$/.test(key) && state ? keysOf(classes()).indexOf(key) : -1;
  let value = byClass
    ? place >= 0 ? `class:${classes()[place]}` : null
    : { arrowleft: "different", arrowright: "same" }[key];
  if (key === " ") value = "unsure";
  if (key === "u") undo();
  else if (key === "s") skip();
  else if (value) give(value);
  else return;
  event.preventDefault();
});
$("undo").addEventListener("click", undo);
$("skip").addEventListener("click", skip);
$("past").addEventListener("toggle", showPast);
$("cancel").addEventListener("click", () => change("cancel", {}));
$("another-row").addEventListener("click", showNearest);
$("finish").addEventListener("click", finish);
$("back").addEventListener("click", () => history.back());
addEventListener("popstate", (event) => turn(event.state === "end"));
$("before").addEventListener("click", () => side("before"));
$("after").addEventListener("click", () => side("after"));
$("zoom-in").addEventListener("click", () => map.zoom(1.4));
$("zoom-out").addEventListener("click", () => map.zoom(1 / 1.4));
$("zoom-reset").addEventListener("click", () => map.reset());
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
