"""The recipes of docs/questions.md, each over several samplings of what people say.

``python -m benchmarks.questions [samplings] [words of a heading ...]`` runs the page's own code
with other seeds, which decide about pairs, clicks, photos, moves and labels. A recipe is a section
with a comment that sets ``figures``; their means and standard errors are printed.
"""

import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^(?:```|<!-- )python\n(.*?)^(?:```|-->)$", re.DOTALL | re.MULTILINE)


def sections():
    """Return the preamble of the page, and the code of each recipe by its heading."""
    before, *parts = re.split(r"^## \.\.\. ", (DOCS / "questions.md").read_text(), flags=re.M)
    found = {}
    for part in parts:
        # Checks of one sampling fail in others.
        code = [block for block in BLOCK.findall(part) if "assert" not in block]
        if any(re.search(r"^figures = ", block, re.MULTILINE) for block in code):
            found[part.splitlines()[0].rstrip("?")] = "\n".join(code)
    return "\n".join(BLOCK.findall(before)), found


def run(code, seed, names):
    """Run code with another seed, and return the figures that it sets."""
    seeded = re.sub(r"default_rng\(\d+\)", f"default_rng({seed})", code)
    exec(compile(seeded, f"questions.md, seed {seed}", "exec"), names)
    return names.pop("figures", None)


def main(samplings, words):
    preamble, recipes = sections()
    os.chdir(DOCS / "data")  # the files that the page offers
    print(f"mean ± standard error over {samplings} samplings (lowest to highest)")
    for heading, code in recipes.items():
        if words and not any(word in heading for word in words):
            continue
        runs = []
        for seed in range(samplings):
            names = {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                run(preamble, seed, names)
                runs.append(run(code, seed, names))
        print(f"\n... {heading}?")
        for figure in runs[0]:
            values = np.array([found[figure] for found in runs])
            error = values.std(ddof=1) / np.sqrt(samplings)
            span = f"({values.min():.3f} to {values.max():.3f})"
            print(f"  {figure:32}{values.mean():.3f} ± {error:.3f}  {span}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:])
