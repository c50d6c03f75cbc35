"""Points, labels and marks for one case, from the recipes of the property tests and some more."""

import io
import zipfile
from dataclasses import dataclass, replace

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from seraph import Marks
from tests.helpers import strategies as recipes
from tests.hostile.values import JUNK

EXPONENTS = (-8, -3, 0, 0, 0, 0, 3, 8)
# What classes the narrow disguises leave of the codes.
NARROWED = {
    "booleans and None": lambda codes: np.where(codes < 0, -1, codes % 2),
    "pandas boolean": lambda codes: np.where(codes < 0, -1, codes % 2),
    "bool": lambda codes: codes % 2,
    "uint8": lambda codes: np.maximum(codes, 0),
    "pandas Categorical of all": lambda codes: np.maximum(codes, 0),
}


def choice(rng, options):
    return rng.choice(sorted(options))


def seed(rng):
    return rng.randrange(2**16)


def table(rng, *, m=None, flawed=0.1):
    """Recipe of a table; some have a flaw."""
    forms = recipes.FLAWS if rng.random() < flawed else recipes.FORMS
    return recipes.Table(
        n=rng.randint(2, 40),
        m=rng.randint(1, 20) if m is None else m,
        geometry=choice(rng, recipes.GEOMETRIES),
        exponent=rng.choice(EXPONENTS),
        form=choice(rng, forms),
        seed=seed(rng),
    )


# What can be told of a mark beside alike or not, and of rows that are in no pair. Shares with few
# binary digits are the same number in every form.
SHARES = (0.0, 0.125, 0.5, 0.75, 1.0, np.nan)
WEIGHTS = (0.0, 2.0**-20, 0.5, 1.0, 1.0, 2.0, 1024.0, 2.0**40)
LIKENESS_FORMS = {
    "array": lambda q: q,
    "float32": lambda q: q.astype(np.float32),
    "list and None": lambda q: [None if np.isnan(share) else share for share in q.tolist()],
    "objects": lambda q: q.astype(object),
    "pandas": lambda q: pd.Series(q),
    "pandas Float64": lambda q: pd.Series(q, dtype="Float64"),
    "polars": lambda q: pl.Series(q),
}
WRONG_LIKENESS = {
    "beyond one": lambda q: np.where(q == 1.0, 1.5, q),
    "negative share": lambda q: np.where(q == 0.0, -0.5, q),
    "infinite": lambda q: np.where(q == 1.0, np.inf, q),
    "words": lambda q: ["surely"] * len(q),
    "text": lambda q: q.astype(str),
    "one too few": lambda q: q[1:],
    "column": lambda q: q[:, np.newaxis],
}
WEIGHT_FORMS = {
    "array": lambda w: w,
    "float32": lambda w: w.astype(np.float32),
    "list": lambda w: w.tolist(),
    "objects": lambda w: w.astype(object),
    "pandas": lambda w: pd.Series(w, index=w),
    "polars": lambda w: pl.Series(w),
}
WRONG_WEIGHTS = {
    "negative": lambda w: -1.0 - w,
    "NaN": lambda w: w * np.nan,
    "infinite": lambda w: w + np.inf,
    "words": lambda w: ["much"] * len(w),
    "complex": lambda w: w + 1j,
    "one too many": lambda w: np.r_[w, 1.0],
    "column": lambda w: w[:, np.newaxis],
    "beyond all floats": lambda w: [10**400] * len(w),
    "dates": lambda w: w.astype("M8[D]"),
}
TRIPLET_FORMS = {
    "intp": lambda rows: rows,
    "uint8": lambda rows: rows.astype(np.uint8),
    "floats": lambda rows: rows.astype(np.float64),
    "list": lambda rows: rows.tolist(),
    "objects": lambda rows: rows.astype(object),
    "pandas": lambda rows: pd.DataFrame(rows, columns=list("abc")),
    "polars": lambda rows: pl.DataFrame(rows, schema=list("abc")),
    "twice": lambda rows: np.tile(rows, (2, 1)),
    "none": lambda rows: rows[:0],
}
WRONG_TRIPLETS = {
    "with itself": lambda rows: rows[:, [0, 1, 1]],
    "out of range": lambda rows: rows + 1000,
    "negative": lambda rows: rows - 1000,
    "not whole": lambda rows: rows + 0.5,
    "NaN": lambda rows: rows * np.nan,
    "words": lambda rows: rows.astype(str).astype(object) + "?",
    "pairs": lambda rows: rows[:, :2],
    "flat": lambda rows: rows.ravel(),
    "ragged": lambda rows: [[0, 1, 2], [0, 1]],
    "bool": lambda rows: rows > 0,
    "complex": lambda rows: rows + 0j,
}
NAME_FORMS = {
    "objects": lambda names: names,
    "text": lambda names: names.astype(str),
    "list": lambda names: names.tolist(),
    "pandas": pd.Index,
    "polars": lambda names: pl.Series(names.tolist()),
    "dask": lambda names: da.from_array(names, chunks=5),
}
WRONG_NAMES = {
    "twice the same": lambda names: [*names[:-1], names[0]],
    "one too few": lambda names: names[:-1],
    "missing": lambda names: [None, *names[1:]],
    "arrays": lambda names: [np.zeros(2)] * len(names),
    "others": lambda names: [f"other {k}" for k in range(len(names))],
}
NAMED_PAIRS = {
    "objects": lambda pairs: pairs,
    "text": lambda pairs: pairs.astype(str),
    "list": lambda pairs: pairs.tolist(),
    "pandas": lambda pairs: pd.DataFrame(pairs, columns=["i", "j"]),
    "polars": lambda pairs: pl.DataFrame(pairs.tolist(), schema=["i", "j"], orient="row"),
    "dask": lambda pairs: da.from_array(pairs, chunks=(5, 2)),
}
GRAPHS = {
    "sparse": sparse.csr_array,
    "matrix": sparse.csr_matrix,
    "columns": sparse.csc_array,
    "coordinates": sparse.coo_array,
    "float32": lambda W: sparse.csr_array(W.astype(np.float32)),
    "empty": lambda W: sparse.csr_array(0.0 * W),
}
WRONG_GRAPHS = {
    "dense": lambda W: W,
    "one row too few": lambda W: sparse.csr_array(W[1:]),
    "smaller": lambda W: sparse.csr_array(W[1:, 1:]),
    "one way": lambda W: sparse.csr_array(np.triu(W, 1)),
    "negative": lambda W: sparse.csr_array(-1.0 - W),
    "NaN": lambda W: sparse.csr_array(W * np.nan),
    "infinite": lambda W: sparse.csr_array(W + np.inf),
    "complex": lambda W: sparse.csr_array(W + 1j),
}


@dataclass(frozen=True)
class Case(recipes.Case):
    """Recipe for the arguments of ``fit``; `extra` takes the place of some, or is added.

    Attributes
    ----------
    parts : dict
        Arguments of ``Marks`` that take the place of those of the recipe, or are added.
    sound : bool
        Whether `extra` and `parts` have no flaw.
    likeness, weights : tuple of float or None
        Of each mark, where they are told and sound.
    triplets : tuple of tuple
        Rows, where they are told and sound.
    """

    extra: dict | None = None
    parts: dict | None = None
    sound: bool = True
    likeness: tuple | None = None
    weights: tuple | None = None
    triplets: tuple = ()

    @property
    def knowledge(self):
        """Labels and marks, as arguments of ``fit``; it refuses marks with a flaw."""
        known = {"y": self.classes.y} if self.with_y else {}
        if self.marked is None and not self.parts:
            return known
        parts = {"rows": self.classes.n} if self.marked is None else self.marked.parts
        return {**known, "marks": Marks(**{**parts, **(self.parts or {})})}

    @property
    def arguments(self):
        return {**super().arguments, **(self.extra or {})}


def _form(rng, forms, wrong, flawed):
    """A form, and whether it is sound."""
    if rng.random() < flawed:
        junk = rng.choice(JUNK)
        return (lambda _: junk) if rng.random() < 0.3 else wrong[choice(rng, wrong)], False
    return forms[choice(rng, forms)], True


def _with_more(rng, made, flawed):
    """The same case, with shares, weights, triplets, names of rows or a graph."""
    kinds = ["likeness", "weights", "both", "triplets", "triplets", "names", "index", "graph"]
    kind = rng.choice(kinds)
    gen, n = np.random.default_rng(seed(rng)), made.table.n
    extra, parts, told, sound = {}, {}, {}, True
    if kind in ("likeness", "weights", "both", "names", "index"):
        marked = made.marked or recipes.Marked(
            made.classes, 20, "plain", "intp", "bool", seed(rng)
        )
        made = replace(made, marked=replace(marked, order="plain", row_form="intp"))
    size = len(made.marked.rows) if made.marked else 0
    if kind in ("likeness", "both"):
        q = gen.choice(SHARES, size=size)
        form, sound = _form(rng, LIKENESS_FORMS, WRONG_LIKENESS, flawed)
        parts["labels"] = form(q)
        told |= {"likeness": tuple(q)} if sound else {}
    if kind in ("weights", "both"):
        w = gen.choice(WEIGHTS, size=size)
        form, heavy_sound = _form(rng, WEIGHT_FORMS, WRONG_WEIGHTS, flawed)
        parts["weights"] = form(w)
        told |= {"weights": tuple(w)} if heavy_sound else {}
        sound = sound and heavy_sound
    if kind == "triplets" and n >= 3:
        rows = np.array([gen.permutation(n)[:3] for _ in range(rng.randint(1, 30))])
        form, sound = _form(rng, TRIPLET_FORMS, WRONG_TRIPLETS, flawed)
        parts["triplets"] = form(rows)
        if sound:
            told["triplets"] = tuple(map(tuple, np.asarray(parts["triplets"]).astype(int)))
    if kind in ("names", "index"):
        names = np.array([f"row {k}" for k in range(n)], dtype=object)
        form, sound = _form(rng, NAME_FORMS, WRONG_NAMES, flawed)
        pairs = NAMED_PAIRS[choice(rng, NAMED_PAIRS)](names[made.marked.rows])
        # A data frame finds its rows, whatever the order that the marks know them in.
        known = gen.permutation(names) if kind == "index" else names
        parts |= {"rows": form(known), "pairs": pairs}
        if kind == "index":
            extra["X"] = pd.DataFrame(made.table.points, index=names)
    if kind == "graph":
        links = gen.uniform(size=(n, n)) * (gen.uniform(size=(n, n)) < 0.3)
        form, sound = _form(rng, GRAPHS, WRONG_GRAPHS, flawed)
        extra["graph"] = form(np.triu(links, 1) + np.triu(links, 1).T)
    return replace(made, extra=extra, parts=parts, sound=sound, **told)


def case(rng, *, flawed=0.1):
    """Recipe of all arguments that ``fit`` may have."""
    points = table(rng, flawed=flawed)
    plain = {**recipes.DISGUISES, **recipes.NARROW_DISGUISES}
    labels = recipes.Classes(
        n=points.n,
        n_classes=min(points.n, rng.choice([1, 2, 2, 3, 5, points.n])),
        share=rng.choice(recipes.SHARES),
        disguise=choice(rng, recipes.WRONG_LABELS if rng.random() < flawed / 2 else plain),
        seed=seed(rng),
    )
    source = rng.choice(["classes", "classes", "pairs", "both"])
    marked = None
    if source != "classes":
        if source == "both" and labels.disguise in recipes.NARROW_DISGUISES:
            labels = replace(labels, disguise="numbers")  # else it contradicts the pairs
        wrong = rng.random() < flawed
        marked = recipes.Marked(
            labels,
            # (A disorder spoils the first pair, so there must be one.)
            n_pairs=rng.randint(1 if wrong else 0, 40),
            order=choice(rng, recipes.DISORDERS if wrong else recipes.ORDERS),
            row_form=choice(rng, recipes.ROW_FORMS),
            sign_form=choice(rng, recipes.SIGN_FORMS),
            seed=seed(rng),
        )
    made = Case(points, labels, source != "pairs", marked)
    return made if rng.random() < 0.7 else _with_more(rng, made, flawed)


def codes_of(made):
    """The classes that ``fit`` is told, as codes."""
    codes = made.classes.codes
    if not made.with_y:
        return np.full_like(codes, -1)
    return NARROWED.get(made.classes.disguise, lambda codes: codes)(codes)


def points_of(X):
    """What comes in, in double precision."""
    return np.asarray(X, dtype=np.float64)


def damaged(rng, content):
    """Change some bytes: replaced, put in, taken out, doubled, or moved."""
    data = bytearray(content)
    odd = [b"\n", b",", b'"', b"\r", b"\0", b"nan", b"1e400", b";", b"-", b"\xff", b",,", b"="]
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(max(1, len(data)))
        length = rng.randint(0, 12)
        piece = bytes(data[start : start + length])
        kind = rng.choice(["replace", "insert", "remove", "double", "move", "cut"])
        if kind == "replace":
            data[start : start + length] = rng.randbytes(length)
        elif kind == "insert":
            data[start:start] = rng.choice(odd)
        elif kind == "cut":
            del data[start:]
        else:
            if kind != "double":
                del data[start : start + length]
            if kind != "remove":
                place = rng.randint(0, len(data))
                data[place:place] = piece
    return bytes(data)


def damaged_inside(rng, archive):
    """Damage a file within a zip archive, whose checksum is right."""
    entries = _entries(archive)
    name = rng.choice(sorted(entries))
    entries[name] = damaged(rng, entries[name])
    if rng.random() < 0.1:
        del entries[name]
    return _zipped(entries)


def _entries(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return {name: file.read(name) for name in file.namelist()}


def _zipped(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, entry in entries.items():
            file.writestr(zipfile.ZipInfo(name), entry)  # without the time of today
    return out.getvalue()
