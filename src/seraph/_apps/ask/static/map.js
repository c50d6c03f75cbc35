// The points in the plane, before and after learning: pan, zoom, and a look at the thing behind a point.

const REACH = 14; // pixels between the pointer and a point that it means
const GROUPS = 8; // that have a color of their own

export class PointMap {
  constructor(canvas, onPoint) {
    this.canvas = canvas;
    this.onPoint = onPoint;
    this.data = null;
    this.side = "after";
    this.view = { scale: 1, x: 0, y: 0 };
    this.hovered = -1;
    this.dragged = null; // where the pointer was
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  update(data) {
    this.data = data;
    this.hovered = -1;
    this.draw();
  }

  show(side) {
    this.side = side;
    this.draw();
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
    const places = this.data[this.side].map((point) => this.#screen(point));
    const dot = ([x, y], radius) => {
      ink.beginPath();
      ink.arc(x, y, radius, 0, 7);
      ink.fill();
    };
    const { groups, asked } = this.data;
    places.forEach((place, k) => {
      ink.fillStyle = color(groups[k] >= 0 && groups[k] < GROUPS ? `--group-${groups[k]}` : "--point");
      dot(place, asked[k] ? 4 : 2.4);
    });
    if (this.hovered >= 0) {
      ink.strokeStyle = color("--ink");
      ink.lineWidth = 2;
      ink.beginPath();
      ink.arc(...places[this.hovered], 7, 0, 7);
      ink.stroke();
    }
  }

  #hover(x, y) {
    let best = -1, nearest = REACH;
    if (this.data && x !== undefined) {
      this.data[this.side].forEach((point, k) => {
        const [a, b] = this.#screen(point);
        const distance = Math.hypot(a - x, b - y);
        if (distance < nearest) [best, nearest] = [k, distance];
      });
    }
    if (best === this.hovered) return;
    this.hovered = best;
    this.draw();
    if (best < 0) this.onPoint(null);
    else this.onPoint(this.data.rows[best], ...this.#screen(this.data[this.side][best]));
  }

  #listen() {
    const { canvas } = this;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      this.dragged = at(event);
      canvas.setPointerCapture(event.pointerId);
      if (event.pointerType !== "mouse") this.#hover(...at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      const now = at(event);
      if (!this.dragged) return this.#hover(...now);
      this.view.x += now[0] - this.dragged[0];
      this.view.y += now[1] - this.dragged[1];
      this.dragged = now;
      this.draw();
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, () => { this.dragged = null; });
    }
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.#hover();
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), ...at(event));
    }, { passive: false });
  }
}
