import sys
import time
import warnings

sys.path.insert(0, "src")
warnings.simplefilter("ignore")
import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from seraph import SERAPH, Marks


def data(n, m, seed=0):
    r = np.random.default_rng(seed)
    y = r.integers(10, size=n)
    mu = np.random.default_rng(5).normal(size=(10, m)) * 0.5 * (64 / m) ** 0.5
    return (mu[y] + r.normal(size=(n, m)).astype("f4")).astype("f4"), y


def auc(e, m):
    T, z = data(2000, m, 1)
    Z = e.transform(T)
    i, j = np.triu_indices(len(z), 1)
    return 100 * roc_auc_score(z[i] == z[j], -((Z[i] - Z[j]) ** 2).sum(1))


print(torch.__version__, torch.cuda.get_device_name())
for n, m, reps in ((100_000, 64, 6), (1_000_000, 64, 5), (100_000, 768, 5), (1_000_000, 384, 3)):
    X, y = data(n, m)
    l = np.where(np.arange(n) < 100, y, -1)
    G = torch.from_numpy(X).cuda()
    ts = []
    for _ in range(reps):
        torch.cuda.synchronize()
        a = time.perf_counter()
        e = SERAPH().fit(G, l)
        torch.cuda.synchronize()
        ts.append(time.perf_counter() - a)
    print(
        n,
        m,
        [round(t, 3) for t in ts],
        "it",
        e.n_iter_,
        "gap %.1e" % e.optimality_gap_,
        e.converged_,
        "rank",
        len(e.components_),
        "AUC %.2f" % auc(e, m),
        flush=True,
    )
    if m in (64, 768) and n == 100_000:
        import cProfile
        import pstats

        p = cProfile.Profile()
        p.enable()
        SERAPH().fit(G, l)
        torch.cuda.synchronize()
        p.disable()
        pstats.Stats(p).sort_stats("tottime").print_stats(14)
    if n == 100_000 and m == 64:
        c = SERAPH().fit(X, l)
        A, B = (q.components_.T @ q.components_ for q in (c, e))
        print("cpu vs gpu", np.abs(A - B).max() / np.abs(A).max(), c.objective_, e.objective_)
X, y = data(3000, 64)
l = np.where(np.arange(3000) < 60, y, -1)
for dt in (np.float32, np.float64):
    a = SERAPH(unlabeled_pairs="all", tol=1e-5, max_iter=1000).fit(X.astype(dt), l)
    b = SERAPH(unlabeled_pairs="all", tol=1e-5, max_iter=1000).fit(
        torch.from_numpy(X.astype(dt)).cuda(), l
    )
    print(dt.__name__, a.objective_, b.objective_, a.n_iter_, b.n_iter_)
pairs = np.random.default_rng(0).integers(3000, size=(200, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
M = Marks(pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1), rows=3000)
for kw in (
    {},
    {"solver": "em", "max_iter": 30},
    {"solver": "spg"},
    {"gamma": 1.0},
    {"manifold": 0.001},
):
    a = SERAPH(**kw).fit(X, marks=M)
    b = SERAPH(**kw).fit(torch.from_numpy(X).cuda(), marks=M)
    print(kw, a.objective_, b.objective_)
