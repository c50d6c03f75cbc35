"""Draw docs/images/architecture.svg: how the data flows, and who may import whom."""

from pathlib import Path
from xml.sax.saxutils import escape

TARGET = Path(__file__).parents[1] / "docs" / "images" / "architecture.svg"
WIDTH, HEIGHT = 980, 1004
INK, SOFT, LINE = "#1f2933", "#52606d", "#7b8794"
PUBLIC, PRIVATE, DATA = "#d3e6fb", "#eef1f4", "#fdebc8"

# x, y, width, height, color, title, lines of text
FLOW = [
    (20, 100, 110, 80, DATA, "X, y, marks", ["arrays, frames,", "tensors, chunks"]),
    (165, 100, 150, 80, PRIVATE, "_seraph, _fit", ["parameters, and one", "run of a solver"]),
    (350, 100, 150, 80, PRIVATE, "_points, _marks", ["rows, units, labels", "of pairs"]),
    (350, 235, 150, 80, PRIVATE, "_solvers", ["propose a metric P,", "measure its gap"]),
    (535, 235, 150, 80, PRIVATE, "_objective", ["pair terms minus", "penalties"]),
    (720, 235, 150, 80, PRIVATE, "_pairs", ["sums over pairs,", "block by block"]),
    (535, 100, 150, 80, DATA, "fitted learner", ["components_,", "optimality_gap_, ..."]),
    (810, 50, 150, 50, PRIVATE, "_mean, _decide", ["mean, decisions"]),
    (810, 110, 150, 50, PUBLIC, "persist, plot", ["files, displays"]),
    (810, 170, 150, 50, PRIVATE, "_apps", ["commands, pages"]),
]
# x1, y1, x2, y2, both ways
ARROWS = [
    (130, 140, 165, 140, False),
    (315, 140, 350, 140, False),
    (425, 180, 425, 235, False),
    (500, 275, 535, 275, True),
    (685, 275, 720, 275, True),
    (500, 240, 560, 180, False),
    (685, 125, 810, 75, False),
    (685, 140, 810, 135, False),
    (685, 155, 810, 195, False),
]
# From the top floor down: a room may import rooms on lower floors.
FLOORS = [
    ("start", ["__main__"]),
    ("applications", ["_apps"]),
    ("", ["records"]),
    ("files, stand-ins", ["compat", "persist"]),
    ("decisions", ["_decide"]),
    ("learners", ["_mean"]),
    ("", ["_seraph", "classic"]),
    ("one fit", ["_fit", "_advice"]),
    ("distances", ["_learner", "_clustering", "plot"]),
    ("the model", ["_objective", "metrics", "_forest"]),
    ("what people know", ["_marks"]),
    ("points, solvers", ["_points", "_solvers", "tables"]),
    ("sums over pairs", ["_pairs"]),
    ("ground", ["_utils"]),
]


def text(x, y, words, size=12, color=INK, weight="normal", anchor="middle"):
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def box(x, y, width, height, color, title, lines=()):
    top = y + height / 2 - 8 * len(lines) + 4
    return [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" '
        f'fill="{color}" stroke="{LINE}"/>',
        text(x + width / 2, top, title, 13, weight="bold"),
        *(text(x + width / 2, top + 17 * (i + 1), line, 12, SOFT) for i, line in enumerate(lines)),
    ]


def arrow(x1, y1, x2, y2, both_ways):
    start = ' marker-start="url(#head)"' if both_ways else ""
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{INK}" stroke-width="1.6"'
        f'{start} marker-end="url(#head)"/>'
    )


def floors(top, height=38, gap=6):
    for number, (name, rooms) in enumerate(FLOORS):
        y = top + number * (height + gap)
        yield text(140, y + height / 2 + 4, name, 12, SOFT, anchor="end")
        width = min(170, (WIDTH - 180) / len(rooms) - 8)
        for place, room in enumerate(rooms):
            color = PRIVATE if room.startswith("_") else PUBLIC
            yield from box(160 + place * (width + 8), y, width, height, color, room)


def drawing():
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="Helvetica, Arial, sans-serif" role="img">',
        "<title>The rooms of seraph and how the data flows</title>",
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        f'markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{INK}"/>'
        "</marker></defs>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(20, 32, "How the data flows", 17, weight="bold", anchor="start"),
        *(arrow(*ends) for ends in ARROWS),
        *(line for shape in FLOW for line in box(*shape)),
        text(20, 362, "Who may import whom", 17, weight="bold", anchor="start"),
        text(250, 362, "only downward; blue rooms are public", 12, SOFT, anchor="start"),
        *floors(376),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
