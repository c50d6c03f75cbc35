"""Compare a sweep on the CPU with two matrix products, and the solvers in high dimension.

``python -m benchmarks.sweeps`` prints both; ratios are measured within one run. The two
products, ``X @ X.T`` and ``W @ X`` with dense n x n weights, are what a sweep would cost if
exponentials were free and it did not use symmetry.
"""

import platform
import time
import warnings

import numpy as np
from scipy.ndimage import shift, zoom
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks.core import timed
from seraph import SERAPH
from seraph._sweep import NumbaSweep, NumpySweep, PairTerms


def sweep_against_products(threads=1, repeat=7):
    print(f"Milliseconds, the best of {repeat}, m = 64, {threads} thread(s)\n")
    head = f"{'n':>6}  {'':8}{'X @ X.T':>9}{'W @ X':>9}{'sum':>9}{'numpy':>9}{'numba':>9}"
    print(head + f"{'numpy':>9}{'numba':>9}{'error':>10}")
    rng = np.random.default_rng(0)
    for n in (4000, 8000):
        double = rng.normal(size=(n, 64)) * 0.15
        terms = PairTerms(np.empty(0, dtype=int), mu=0.1)
        P = np.linalg.qr(rng.normal(size=(64, 64)))[0]
        exact = dense_gradient(double, P, terms)
        for dtype in (np.float32, np.float64):
            X = double.astype(dtype)
            W = rng.normal(size=(n, n)).astype(dtype)
            square, tall = np.empty((n, n), dtype), np.empty((n, 64), dtype)
            # The products run on as many threads as the sweeps.
            with threadpool_limits(threads, user_api="blas"):
                first, _ = timed(lambda: np.matmul(X, X.T, out=square), repeat)
                second, _ = timed(lambda: np.matmul(W, X, out=tall), repeat)
            times = {}
            with threadpool_limits(1, user_api="blas"):
                for kind in (NumpySweep, NumbaSweep):
                    sweep = kind(X, n_jobs=threads)
                    sweep(P, terms, "metric")
                    times[kind], (_, gradient) = timed(lambda: sweep(P, terms, "metric"), repeat)
            error = np.linalg.norm(gradient - exact) / np.linalg.norm(exact)
            both = first + second
            milliseconds = [first, second, both, times[NumpySweep], times[NumbaSweep]]
            print(
                f"{n:>6}  {np.dtype(dtype).name:8}"
                + "".join(f"{1e3 * t:>9.1f}" for t in milliseconds)
                + "".join(f"{times[kind] / both:>8.2f}x" for kind in times)
                + f"{error:>10.1e}",
                flush=True,
            )


def dense_gradient(X, P, terms):
    """Compute the gradient by the metric from n x n arrays of doubles."""
    Z = X @ P.T
    squares = np.sum(Z * Z, axis=1)
    t = np.maximum(squares[:, None] + squares - 2.0 * Z @ Z.T, 0.0) - terms.eta
    np.fill_diagonal(t, 1e4)
    e = np.exp(-np.abs(t))
    W = terms.mu * t * e / (1.0 + e) ** 2
    return X.T @ (W.sum(axis=1)[:, None] * X - W @ X)


def pixels(n, rng):
    """Make any number of digits of 28 x 28 pixels, each shifted a little."""
    data = load_digits()
    rows = rng.integers(len(data.data), size=n)
    images = [zoom(data.images[row] / 16.0, 3.5, order=1) for row in rows]
    moved = [shift(image, rng.uniform(-1.5, 1.5, 2), order=1).ravel() for image in images]
    return np.stack(moved), data.target[rows]


def high_dimension(n=2000, n_labels=100):
    print(f"\nn = {n}, m = 784, {n_labels} labels: seconds to the same tolerance, one thread\n")
    head = f"{'tol':>8}{'low-rank':>10}{'spg':>10}{'ratio':>8}{'rank':>6}"
    print(head + f"{'objective':>16}{'apart':>10}")
    X, y = pixels(n, np.random.default_rng(0))
    y = np.where(np.arange(n) < n_labels, y, -1)
    for tol in (1e-3, 1e-4):
        seconds, fitted = {}, {}
        for solver in ("low-rank", "spg"):
            learner = SERAPH(shrinkage=0, solver=solver, tol=tol, max_iter=1000)
            seconds[solver], fitted[solver] = timed(lambda: learner.fit(X, y))
        values = {solver: learner.objective_ for solver, learner in fitted.items()}
        apart = (values["low-rank"] - values["spg"]) / abs(values["spg"])
        print(
            f"{tol:>8.0e}{seconds['low-rank']:>10.2f}{seconds['spg']:>10.2f}"
            f"{seconds['spg'] / seconds['low-rank']:>7.1f}x"
            f"{len(fitted['low-rank'].components_):>6}"
            f"{values['low-rank']:>16.6f}{apart:>10.1e}",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(f"numpy {np.__version__}, {platform.machine()}, {time.strftime('%Y-%m-%d')}\n")
    for threads in (1, 2):
        sweep_against_products(threads)
        print()
    high_dimension()
