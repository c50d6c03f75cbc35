// The AUC as answers come in: the learned distance with its interval, and the Euclidean one.

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 112, LEFT = 30, RIGHT = 8, TOP = 8, BOTTOM = 22;

function add(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

export function drawChart(box, judgments) {
  const width = Math.max(box.clientWidth, 200);
  const first = judgments[0].answers, last = judgments[judgments.length - 1].answers;
  const lowest = Math.min(...judgments.flatMap((j) => [j.learned.low, j.euclidean.value]));
  const floor = Math.max(0, Math.min(0.5, Math.floor(lowest * 10) / 10));
  const x = (n) => last === first
    ? (LEFT + width - RIGHT) / 2
    : LEFT + ((n - first) / (last - first)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + ((1 - value) / (1 - floor)) * (HEIGHT - TOP - BOTTOM);
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("aria-hidden", "true");
  const step = floor < 0.5 ? 0.25 : 0.1;
  for (let value = 1; value > floor - 1e-9; value -= step) {
    add(svg, "line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
    add(svg, "text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" },
      step === 0.25 ? value.toFixed(2) : value.toFixed(1));
  }
  const ends = last === first ? [last] : [first, last];
  for (const n of ends) {
    const anchor = ends.length === 1 ? "middle" : n === first ? "start" : "end";
    add(svg, "text", { x: x(n), y: HEIGHT - 6, "text-anchor": anchor }, `${n} answers`);
  }
  const path = (points) => points.map(([a, b], k) => `${k ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  const highs = judgments.map((j) => [x(j.answers), y(j.learned.high)]);
  const lows = judgments.map((j) => [x(j.answers), y(j.learned.low)]);
  if (judgments.length === 1) {
    add(svg, "rect", { class: "band", x: highs[0][0] - 4, width: 8, y: highs[0][1], height: lows[0][1] - highs[0][1] });
  } else {
    add(svg, "path", { class: "band", d: `${path(highs)}${path(lows.reverse()).replace("M", "L")}Z` });
  }
  add(svg, "path", { class: "euclidean", d: path(judgments.map((j) => [x(j.answers), y(j.euclidean.value)])) });
  add(svg, "path", { class: "learned", d: path(judgments.map((j) => [x(j.answers), y(j.learned.value)])) });
  const now = judgments[judgments.length - 1];
  add(svg, "circle", { class: "dot", r: 4, cx: x(now.answers), cy: y(now.learned.value) });
  box.replaceChildren(svg);
}
