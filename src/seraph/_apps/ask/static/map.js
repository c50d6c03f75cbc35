// The points in the plane, before and after learning: pan, zoom, and a look at the thing behind a point.

const REACH = 14; // pixels between the pointer and a point that it means
const GROUPS = 8; // that have a color of their own
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export class PointMap {
  constructor(canvas, onPoint) {
    this.canvas = canvas;
    this.onPoint = onPoint;
    this.data = null;
    this.from = this.to = null; // coordinates between which the points move
    this.moved = 1;
    this.side = "after";
    this.view = { scale: 1, x: 0, y: 0 };
    this.hovered = -1;
    this.pointers = new Map();
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // Show new points; those that were there move to their new places.
  update(data) {
    const past = new Map();
    if (this.data) this.data.rows.forEach((row, k) => past.set(row, this.place(k)));
    this.data = data;
    this.hovered = -1;
    this.to = data[this.side];
    this.#move(data.rows.map((row, k) => past.get(row) ?? this.to[k]));
  }

  show(side) {
    if (this.side === side) return;
    this.side = side;
    if (!this.data) return;
    const now = this.data.rows.map((_, k) => this.place(k));
    this.to = this.data[side];
    this.#move(now);
  }

  place(k) {
    const t = this.moved < 0.5 ? 2 * this.moved ** 2 : 1 - (2 - 2 * this.moved) ** 2 / 2;
    const a = this.from[k], b = this.to[k];
    return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t];
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(40, Math.max(0.5, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    const cx = x - this.canvas.clientWidth / 2, cy = y - this.canvas.clientHeight / 2;
    this.view = { scale, x: cx - (cx - this.view.x) * ratio, y: cy - (cy - this.view.y) * ratio };
    this.draw();
  }

  reset() {
    this.view = { scale: 1, x: 0, y: 0 };
    this.draw();
  }

  #move(from) {
    this.from = from;
    this.moved = STILL.matches ? 1 : 0;
    const start = performance.now();
    const step = (now) => {
      this.moved = STILL.matches ? 1 : Math.min(1, Math.max(0, (now - start) / 700));
      this.draw();
      if (this.moved < 1) this.frame = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(step);
  }

  #screen([x, y]) {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const unit = (Math.min(width, height) * 0.44) * this.view.scale;
    return [width / 2 + this.view.x + x * unit, height / 2 + this.view.y - y * unit];
  }

  draw() {
    if (!this.data) return;
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const style = getComputedStyle(canvas);
    const color = (name) => style.getPropertyValue(name).trim();
    const ink = canvas.getContext("2d");
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, width, height);
    const places = this.data.rows.map((_, k) => this.#screen(this.place(k)));
    const dot = ([x, y], radius) => {
      ink.beginPath();
      ink.arc(x, y, radius, 0, 7);
      ink.fill();
    };
    const { groups, pairs } = this.data;
    const answered = new Set(pairs.flatMap(([a, b]) => [a, b]));
    places.forEach((place, k) => {
      ink.fillStyle = color(groups[k] >= 0 && groups[k] < GROUPS ? `--group-${groups[k]}` : "--point");
      dot(place, answered.has(k) ? 4 : 2.4);
    });
    if (this.hovered >= 0) {
      this.#drawAnswers(ink, places, color);
      ink.strokeStyle = color("--ink");
      ink.lineWidth = 2;
      ink.beginPath();
      ink.arc(...places[this.hovered], 7, 0, 7);
      ink.stroke();
    }
  }

  // Lines to the rows that the hovered one was compared with.
  #drawAnswers(ink, places, color) {
    ink.lineWidth = 1.4;
    for (const [a, b, same] of this.data.pairs) {
      if (a !== this.hovered && b !== this.hovered) continue;
      ink.strokeStyle = color(same ? "--same" : "--different");
      ink.setLineDash(same ? [] : [4, 4]);
      ink.beginPath();
      ink.moveTo(...places[a]);
      ink.lineTo(...places[b]);
      ink.stroke();
    }
    ink.setLineDash([]);
  }

  #hover(x, y) {
    let best = -1, nearest = REACH;
    if (this.data && x !== undefined) {
      this.data.rows.forEach((_, k) => {
        const [a, b] = this.#screen(this.place(k));
        const distance = Math.hypot(a - x, b - y);
        if (distance < nearest) [best, nearest] = [k, distance];
      });
    }
    if (best === this.hovered) return;
    this.hovered = best;
    this.draw();
    if (best < 0) this.onPoint(null);
    else this.onPoint(this.data.rows[best], ...this.#screen(this.place(best)));
  }

  #listen() {
    const { canvas } = this;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, at(event));
      canvas.setPointerCapture(event.pointerId);
      if (event.pointerType !== "mouse") this.#hover(...at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      const now = at(event), before = this.pointers.get(event.pointerId);
      if (!before) return this.#hover(...now);
      if (this.pointers.size === 2) {
        const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
        const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        this.zoom(gap(now) / gap(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else {
        this.view.x += now[0] - before[0];
        this.view.y += now[1] - before[1];
        this.draw();
      }
      this.pointers.set(event.pointerId, now);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.#hover();
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), ...at(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const pan = { ArrowLeft: [30, 0], ArrowRight: [-30, 0], ArrowUp: [0, 30], ArrowDown: [0, -30] }[event.key];
      if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.reset();
      else if (pan && event.shiftKey) {
        this.view.x += pan[0];
        this.view.y += pan[1];
        this.draw();
      } else return;
      event.preventDefault();
    });
  }
}
