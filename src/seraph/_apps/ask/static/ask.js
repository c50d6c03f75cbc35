// The page: shows the question, sends the answer, and shows what has been learned.

import { drawChart } from "./chart.js";
import { PointMap } from "./map.js";
import { make } from "./page.js";
import { Pair } from "./pair.js";
import { Screen } from "./screen.js";
import { brief, picture, rowsTable, thumbnail } from "./things.js";
import { Problem, host, request } from "./transport.js";

const { mode, making, made, first, second, measure } = document.body.dataset;
const $ = (id) => document.getElementById(id);
let state = null;
let shownKey = null;
let waiting = false;
let looking = false; // for what has changed
let changes = 0; // sent by this page: what was asked for before one is out of date
let version = -1;
let ending = false;
let listed = -1; // answers in the list of past ones
const added = []; // classes that have no answer yet
const classes = () => [...new Set([...(state?.classes ?? []), ...added])];

// Screen readers read a live region again whenever its text is set.
function write(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
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
    const next = await request(path, body);
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
  // A kernel has other work: it is asked only while a session learns.
  if (waiting || looking || document.hidden || (host && state && !state.learning.busy)) return;
  looking = true;
  const before = changes;
  try {
    const next = await request("state");
    if (waiting || changes !== before) return;
    if (about === "server") complain("");
    show(next);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    complain(error.message, "server");
  } finally {
    looking = false;
  }
}

// The question

const Asking = mode === "pair" ? Pair : Screen;
const asking = new Asking($("things"), $("answers"), { mode, classes, give, unreadable: refresh, say: (text) => { $("said").textContent = text; } });

function showQuestion(question) {
  $("before-this").hidden = !question?.given;
  $("answers").hidden = !question;
  if (question?.key === shownKey) return;
  shownKey = question?.key ?? "";
  if (question) asking.show(question);
  else $("things").replaceChildren(make("p", { className: "missing", textContent: "There is nothing left to ask. Finish to get the result." }));
}

async function give(values, said) {
  if (waiting || !shownKey) return;
  const start = performance.now();
  const next = await change("answer", { key: shownKey, values }, `Saved: ${said}. `);
  if (!next) return;
  if (next.question) $("said").textContent += mode === "pair" ? `Next: ${next.question.things.map(({ id }) => id).join(" and ")}.` : `Next: ${next.question.things[0].id}.`;
  $("question").focus({ preventScroll: true });
  scrollTo({ top: 0 });
  requestAnimationFrame(() => performance.measure("next question", { start, end: performance.now() }));
}

const undo = () => state?.counts.answers && change("undo", { key: shownKey }, "The answer before, to change it. It stays until you confirm another one.");
const again = (keys) => change("again", { keys }, "Asked again.").then((done) => done && $("question").focus());

// An answered question in a list, with a link to look at it again.
function pastItem({ key, things, given }) {
  const shown = (mode === "like" || mode === "sort" ? things.slice(0, 1) : things).map((thing) => (thing.kind === "image" ? thumbnail(thing) : make("span", { dir: "auto", textContent: thing.id })));
  const names = things.map(({ id }) => id).join(" and ");
  const button = make("button", { type: "button", className: "link", textContent: "Look again", "aria-label": `Look again: ${names}` });
  button.addEventListener("click", () => again([key]));
  return make("li", {}, ...shown, make("b", { textContent: Asking.summary({ given }) }), button);
}

async function showPast() {
  if (!$("past").open) return;
  const answers = await request("answers").catch(() => null); // the next answer says what is wrong
  if (answers) $("past-list").replaceChildren(...answers.map(pastItem));
}

// What has been learned

const NOUN = mode === "pair" ? "answer" : "screen";

function showCounts({ counts }) {
  const kinds = Object.entries(counts.kinds).filter(([, n]) => n || mode !== "name");
  const noun = mode === "pair" || mode === "name" ? "" : " pairs";
  const parts = kinds.map(([name, n]) => (mode === "name" ? `${name} (${n})` : `${n}${noun} ${name}`));
  if (counts.unsure) parts.push(`${counts.unsure} unsure`);
  $("counts").textContent = counts.answers ? `${counts.answers} ${NOUN}${counts.answers === 1 ? "" : "s"}: ${parts.join(", ")}` : "No answers yet.";
  const colors = [...kinds.map(([name, n]) => [mode === "name" ? "class" : name, n]), ["unsure", counts.unsure]];
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
  $("finish")?.classList.toggle("ready", stop);
  $("scores").hidden = $("chart").hidden = $("explained").hidden = !judgments.length;
  if (!judgments.length) return;
  const { figures } = judgments[judgments.length - 1];
  figures.forEach(({ value, low, high }, k) => $(k ? "second" : "first").replaceChildren(
    value.toFixed(2), make("small", { textContent: `${low.toFixed(2)} to ${high.toFixed(2)}` })));
  $("chart").setAttribute("aria-label", `${measure}: ${first} ${figures[0].value.toFixed(2)}, ${second} ${figures[1].value.toFixed(2)}`);
  drawChart($("chart"), judgments, NOUN);
}

new ResizeObserver(() => $("chart").hidden || drawChart($("chart"), state.learning.judgments, NOUN)).observe($("chart"));

function showDoubts(doubts) {
  $("doubts").hidden = !doubts.length;
  const contradict = doubts.length === 1 ? "contradicts the others" : "contradict the others";
  $("doubted").textContent = `${doubts.length} ${NOUN}${doubts.length === 1 ? "" : "s"} ${contradict}`;
  $("doubt-list").replaceChildren(...doubts.map((doubt) => (mode === "pair" && doubt.things[0].cells.length ? make("li", {},
    make("p", {}, "You said ", make("b", { textContent: Asking.summary(doubt) }), ", unlike the others."), rowsTable(doubt.things)) : pastItem(doubt))));
  $("again").onclick = () => again(doubts.map(({ key }) => key));
}

// The map, and a look at the row behind a point

const map = $("map") && new PointMap($("map"), showTip);
let tipFor = null;

async function showTip(row, x, y) {
  tipFor = row;
  const tip = $("tip");
  if (row === null) tip.hidden = true;
  const thing = row === null ? null : await request(`thing/${row}`).catch(() => null); // the next answer says what is wrong
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
    const data = await request("picture");
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
  if (!finish) return; // in a notebook, the next cell goes on
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
  showQuestion(next.question);
  showCounts(next);
  showLearning(next.learning);
  showEnd(next);
  for (const row of next.upcoming) picture({ row });
  showMap();
  if (next.counts.answers !== listed) {
    listed = next.counts.answers;
    showPast();
  }
}

document.addEventListener("keydown", (event) => {
  if (ending || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  if (target.matches("input, textarea, select")) return;
  if (event.key === " " && target.matches("audio") || " Enter".includes(event.key) && target.matches("button, a, summary")) return;
  if (event.key.toLowerCase() === "u" && !event.shiftKey) undo(); // Caps Lock changes nothing
  else if (!shownKey || !asking.key(event)) return;
  event.preventDefault();
});
// What a mouse has pressed does not get the next Enter.
document.addEventListener("click", (event) => event.detail && event.target.closest("button, summary") && document.activeElement.blur());
$("undo").addEventListener("click", undo);
$("past").addEventListener("toggle", showPast);
if ($("finish")) {
  $("finish").addEventListener("click", finish);
  $("back").addEventListener("click", () => history.back());
  addEventListener("popstate", (event) => turn(event.state === "end"));
  $("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText($("command").textContent);
    $("copy").textContent = "Copied";
  });
}
if (mode === "name") {
  const add = () => {
    const name = $("another").value.trim();
    if (!name || !state) return;
    $("another").value = "";
    added.push(name);
    if (shownKey) asking.choose(name);
    $("said").textContent = `Added: ${name}.`;
    $("question").focus({ preventScroll: true }); // so that keys answer again
  };
  $("add").addEventListener("click", add);
  $("another").addEventListener("keydown", (event) => event.key === "Enter" && add());
}
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, 1500);
refresh();
