"""Run the fused kernel in Triton's interpreter, and print how far it is from numpy."""

import json

import numpy as np

from seraph._sweep import NumpySweep, PairTerms, Posterior
from seraph._sweep._torch import TorchSweep, _fits_kernel, _Pass


def errors():
    rng = np.random.default_rng(0)
    for n, k in [(70, 20), (70, 0), (40, 40), (190, 3)]:
        X = rng.normal(size=(n, 5)) * 0.6
        pairs = np.array([[0, n - 3], [n - 4, n - 6]])[: 2 if k < n - 6 else 0]
        similar = np.array([True, False])[: len(pairs)]
        for q in (None, Posterior(), Posterior(rng.normal(size=(3, 5)))):
            for mu in (0.0, 0.4):
                if mu == 0.0 and (k < 2 or q is not None):
                    continue
                terms = PairTerms(rng.integers(0, 3, k), pairs, similar, 1.3, mu, q)
                for wrt in ("metric", "factor", "threshold"):
                    P = rng.normal(size=(2, 5))
                    sweep = TorchSweep(X.astype(np.float32), "cpu")
                    assert _fits_kernel(_Pass(sweep, P, terms, wrt))
                    value, gradient = sweep(P, terms, wrt)
                    exact, expected = NumpySweep(X)(P, terms, wrt)
                    yield abs(value - exact) / abs(exact)
                    yield np.linalg.norm(gradient - expected) / np.linalg.norm(expected)


def errors_of_tiles():
    """The same for tiles that lie in memory, in double precision."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 5)) * 0.6
    terms = PairTerms(rng.integers(0, 3, 20), eta=1.3, mu=0.4)
    for wrt in ("metric", "factor", "threshold"):
        P = rng.normal(size=(2, 5))
        value, gradient = TorchSweep(X, "cpu", tile=33)(P, terms, wrt)
        exact, expected = NumpySweep(X)(P, terms, wrt)
        yield abs(value - exact) / abs(exact)
        yield np.linalg.norm(gradient - expected) / np.linalg.norm(expected)


if __name__ == "__main__":
    found = {"fused": errors(), "tiles": errors_of_tiles()}
    print(json.dumps({name: [float(error) for error in all_] for name, all_ in found.items()}))
