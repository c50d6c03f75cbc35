"""Points, labels and marked pairs for one case, from the recipes of the property tests."""

from dataclasses import replace

import numpy as np

from tests.helpers import strategies as recipes

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


def case(rng, *, flawed=0.1):
    """Recipe of all arguments of ``fit``."""
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
    marks = None
    if source != "classes":
        if source == "both" and labels.disguise in recipes.NARROW_DISGUISES:
            labels = replace(labels, disguise="numbers")  # else it contradicts the pairs
        wrong = rng.random() < flawed
        marks = recipes.Marks(
            labels,
            # (A disorder spoils the first pair, so there must be one.)
            n_pairs=rng.randint(1 if wrong else 0, 40),
            order=choice(rng, recipes.DISORDERS if wrong else recipes.ORDERS),
            row_form=choice(rng, recipes.ROW_FORMS),
            sign_form=choice(rng, recipes.SIGN_FORMS),
            seed=seed(rng),
        )
    return recipes.Case(points, labels, source != "pairs", marks)


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
