"""Run the kernels in Triton's interpreter, and print how far they are from numpy.

The argument says in JSON how many of the errors of each kind to compute, or null for all.
"""

import json
import sys
from itertools import islice

import numpy as np
from seraph._sweep import NumpySweep, PairList, PairTerms, Plan, Posterior, _torch, _triton
from seraph._sweep._torch import TorchSweep, fits_kernel


def errors():
    rng = np.random.default_rng(0)
    for number, (n, k) in enumerate([(70, 20), (70, 0), (40, 40), (190, 3)]):
        # The classes of more rows than this are for the kernel.
        _torch._FEW_LABELED = (0, 4096)[number % 2]
        X = rng.normal(size=(n, 5)) * 0.6
        pairs = np.array([[0, n - 3], [n - 4, n - 6]])[: 2 if k < n - 6 else 0]
        similar, weights = np.array([[1.0, 0.2], [2.5, 0.3]])[:, : len(pairs)]
        for q in (None, Posterior(), Posterior(rng.normal(size=(3, 5)))):
            for mu in (0.0, 0.4):
                if mu == 0.0 and (k < 2 or q is not None):
                    continue
                terms = PairTerms(
                    rng.integers(0, 3, k), pairs, similar, 1.3, mu, q, weights=weights
                )
                for wrt in ("metric", "factor", "threshold"):
                    P = rng.normal(size=(2, 5))
                    sweep = TorchSweep(X.astype(np.float32), "cpu")
                    assert fits_kernel(sweep.X, P, terms)
                    yield from difference(sweep, X, P, terms, wrt)


def errors_of_samples():
    """Differences of a share of the pairs from the same pairs one by one."""
    rng = np.random.default_rng(3)
    for n, k, labeled, few in [
        (700, 600, 0.1, 4096),
        (700, 600, 0.1, 0),
        (1200, 5, 1.0, 4096),
        (1030, 0, 1.0, 4096),
    ]:
        _torch._FEW_LABELED = few
        X, P = rng.normal(size=(n, 5)) * 0.6, rng.normal(size=(2, 5))
        plan = Plan(share=0.1, labeled_share=labeled)
        terms = PairTerms(rng.integers(0, 3, k), eta=1.3, mu=0.4, plan=plan)
        i, j = np.triu_indices(n, k=1)
        # The kernel takes spans of 512 rows, of which each meets itself alone at this share; and
        # the labeled rows meet the first 128 others.
        near = (i >= k) & ((i - k) // 512 == (j - k) // 512)
        edge = (i < k) & (j >= k) & (j < k + 128)
        # The tiles of few labeled rows are those of the plan.
        strips = plan.tiles(k, k, 512, 64, mu=0.0)
        met = np.zeros((n, n), dtype=bool)
        for strip in strips:
            for columns in strip.columns:
                met[strip.rows, columns] = True
        known = met[i, j] | met[j, i] if few else (j < k) & (i // 512 == j // 512)
        for wrt in ("metric", "factor"):
            single = TorchSweep(X.astype(np.float32), "cpu")
            assert fits_kernel(single.X, P, terms)
            value, gradient = single(P, terms, wrt)
            similar = terms.codes[i[known]] == terms.codes[j[known]]
            weights = np.full(len(similar), k * (k - 1) / 2 / max(len(similar), 1))
            nobody, pairs = np.empty(0, dtype=int), np.stack([i, j], axis=1)
            marked = PairTerms(nobody, pairs[known], similar, 1.3, weights=weights)
            exact, expected = NumpySweep(X)(P, marked, wrt)
            for some, n_all in ((near, (n - k) * (n - k - 1) / 2), (edge, k * (n - k))):
                if np.any(some):
                    plan = Plan(listed=PairList.of(pairs[some]), weight=n_all / np.sum(some))
                    sampled = PairTerms(nobody, eta=1.3, mu=0.4, plan=plan)
                    part, slope = NumpySweep(X)(P, sampled, wrt)
                    exact, expected = exact + part, expected + slope
            yield abs(value - exact) / abs(exact)
            yield np.linalg.norm(gradient - expected) / np.linalg.norm(expected)


def errors_of_tiles():
    """Differences of tiles in memory, in double precision."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 5)) * 0.6
    terms = PairTerms(rng.integers(0, 3, 20), eta=1.3, mu=0.4)
    for wrt in ("metric", "factor", "threshold"):
        P = rng.normal(size=(2, 5))
        yield from difference(TorchSweep(X, "cpu", tile=33), X, P, terms, wrt)


def errors_of_wide_posteriors():
    """Differences where only the frozen metric is too wide for the fused kernel, or the points."""
    rng = np.random.default_rng(2)
    X, P = rng.normal(size=(40, 140)) * 0.1, rng.normal(size=(2, 140))
    sweep = TorchSweep(X.astype(np.float32), "cpu")
    yield from difference(sweep, X, P, PairTerms(rng.integers(0, 3, 9), mu=0.4), "metric")
    X, P = rng.normal(size=(40, 140)) * 0.1, rng.normal(size=(2, 140))
    terms = PairTerms(
        rng.integers(0, 3, 9), mu=0.4, q=Posterior(0.1 * rng.normal(size=(140, 140)))
    )
    sweep = TorchSweep(X.astype(np.float32), "cpu")
    assert not fits_kernel(sweep.X, P, terms)
    yield from difference(sweep, X, P, terms, "factor")


def errors_of_stripes():
    """Differences where memory has room for the sums of one block of rows, or of three."""
    rng = np.random.default_rng(4)
    X, P = rng.normal(size=(420, 5)) * 0.6, rng.normal(size=(2, 5))
    terms = PairTerms(rng.integers(0, 3, 140), eta=1.3, mu=0.4)
    sweep = TorchSweep(X.astype(np.float32), "cpu")
    for n_bytes, wrt in ((1, "factor"), (4 * 384 * 17 * 3, "factor"), (1, "threshold")):
        _triton._MIRRORED_BYTES = n_bytes
        yield from difference(sweep, X, P, terms, wrt)


def difference(sweep, X, P, terms, wrt):
    """Relative differences of value and gradient from those of numpy in double precision."""
    value, gradient = sweep(P, terms, wrt)
    exact, expected = NumpySweep(X)(P, terms, wrt)
    yield abs(value - exact) / abs(exact)
    yield np.linalg.norm(gradient - expected) / np.linalg.norm(expected)


if __name__ == "__main__":
    found = {
        "fused": errors(),
        "samples": errors_of_samples(),
        "tiles": errors_of_tiles(),
        "wide": errors_of_wide_posteriors(),
        "stripes": errors_of_stripes(),
    }
    n_errors = json.loads(sys.argv[1])
    print(
        json.dumps(
            {
                name: [float(error) for error in islice(some, n_errors[name])]
                for name, some in found.items()
            }
        )
    )
