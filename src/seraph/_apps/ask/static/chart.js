// Two figures as answers come in: the first with its interval, the second dashed.

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 112, LEFT = 30, RIGHT = 8, TOP = 8, BOTTOM = 22;

export function drawChart(box, judgments, noun) {
  const svg = document.createElementNS(NS, "svg");
  const add = (name, attributes, text = "") => {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    svg.append(node);
  };
  const width = Math.max(box.clientWidth, 200);
  const first = judgments[0].answers, last = judgments[judgments.length - 1].answers;
  const lowest = Math.min(...judgments.flatMap(({ figures: [a, b] }) => [a.low, b.value]));
  const floor = Math.max(0, Math.min(0.5, Math.floor(lowest * 10) / 10));
  const x = (n) => (last === first ? (LEFT + width - RIGHT) / 2 : LEFT + ((n - first) / (last - first)) * (width - LEFT - RIGHT));
  const y = (value) => TOP + ((1 - value) / (1 - floor)) * (HEIGHT - TOP - BOTTOM);
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("aria-hidden", "true");
  const step = floor < 0.5 ? 0.25 : 0.1;
  for (let value = 1; value > floor - 1e-9; value -= step) {
    add("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
    add("text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(step === 0.25 ? 2 : 1));
  }
  const ends = last === first ? [[last, "middle"]] : [[first, "start"], [last, "end"]];
  for (const [n, anchor] of ends) add("text", { x: x(n), y: HEIGHT - 6, "text-anchor": anchor }, `${n} ${noun}s`);
  const points = (k, end) => judgments.map(({ answers, figures }) => `${x(answers).toFixed(1)} ${y(figures[k][end]).toFixed(1)}`);
  const highs = points(0, "high"), lows = points(0, "low").reverse();
  add("path", { class: "band", d: `M${[...highs, ...lows].join("L")}Z` });
  add("path", { class: "second", d: `M${points(1, "value").join("L")}` });
  add("path", { class: "first", d: `M${points(0, "value").join("L")}` });
  add("circle", { class: "dot", r: 4, cx: x(last), cy: y(judgments[judgments.length - 1].figures[0].value) });
  box.replaceChildren(svg);
}
