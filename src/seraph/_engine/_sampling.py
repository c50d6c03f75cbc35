r"""The rows and pairs that ``unlabeled_pairs="auto"`` sums over.

The unlabeled term is an average over pairs: a U-statistic. Over B random pairs of K of the n rows,
instead of all, its gradient varies by (Blom 1976; Clemencon, Colin and Bellet 2016)::

    4 zeta_1 / K (1 - K / n)  +  zeta_2 / B (1 - 2 B / K^2)

with zeta_2 the variance of a pair's gradient and zeta_1 that of its mean over the partners of a
row. (Here each row is in equally many pairs, so that the second part is less by ``2 zeta_1 / B``.)
The gradient of the labeled pairs, which has the same total weight under ``mu="auto"``, varies by
about ``4 zeta_1 / k`` with the choice of the k labeled rows. So the rule is

- all pairs, up to 5,000 rows;
- beyond, K = 100 k rows, at least 20,000 and at most 100,000, and the labeled ones; each is in 128
  sampled pairs, so that B = 64 K.

The first part is then 1 % of the variance that the labels leave, or 0.5 % of its root, if both
zeta_1 are alike. The second is less: zeta_2 is 4 zeta_1 for Gaussian points without a link, and
would have to be 256 zeta_1 to weigh as much. `_sampling_error` measures both at the solution.
"""

from __future__ import annotations

import numpy as np

from .._marks import PairLabels
from .._sweep import Plan
from .._utils._typing import Array
from ._settings import Settings

# All pairs are summed up to this number of rows.
WHOLE = 5_000
# Sampled rows for each labeled one, and their smallest and largest number.
_PER_LABELED, _LEAST, MOST = 100, 20_000, 100_000
# Sampled pairs for each row: half the number that a row is in; and those of two labeled rows, of
# the rarer kind. (Labels fit well, so that zeta_2 is larger beside zeta_1.)
PAIRS_PER_ROW, _LABELED_PER_ROW = 64, 256


def sample_rows(labels: PairLabels, n_features: int, settings: Settings) -> Array | None:
    """Choose the rows to sum over; None for all.

    All labeled rows are among them. The others are spread over the table, one at random from each
    of equally long stretches, with a fixed seed: the same table gives the same rows.

    Parameters
    ----------
    labels : PairLabels
        What is known about the rows.
    n_features : int
        Number of features; a sample has at least twice as many rows.
    settings : Settings
        Settings of the fit. A graph needs all rows, so that ``manifold > 0`` keeps them.

    Returns
    -------
    ndarray of int of shape (k,) or None
        Row numbers, increasing.
    """
    if settings.unlabeled_pairs != "auto" or settings.manifold > 0.0:
        return None
    known = labels.is_labeled
    size = min(max(_PER_LABELED * int(np.count_nonzero(known)), _LEAST), MOST)
    size = max(size, 2 * n_features)
    others = np.flatnonzero(~known)
    if len(others) <= size:
        return None
    edges = np.arange(size + 1) * len(others) // size
    lengths = np.diff(edges)
    # (Of the generators of numpy, the stream of this one never changes.)
    jumps = np.random.RandomState(0).random_sample(size) * lengths
    picked = edges[:-1] + np.minimum(jumps.astype(np.intp), lengths - 1)
    return np.sort(np.concatenate([np.flatnonzero(known), others[picked]]))


def plan_sample(labels: PairLabels) -> Plan:
    """Choose the pairs of the (sampled) rows to sum over for "auto": see the head of this file.

    Of more than 5,000 class-labeled rows, the pairs are a sample, too: 256 similar and 256
    dissimilar ones for each row, or more.
    """
    n, k = len(labels.codes), int(np.count_nonzero(labels.codes >= 0))
    share = labeled_share = 1.0
    if n > WHOLE:
        share = min(1.0, 2.0 * PAIRS_PER_ROW / (n - 1))
    if k > WHOLE:
        labeled_share = min(1.0, _LABELED_PER_ROW * k / max(1, min(labels.implied)))
    return Plan(share=share, labeled_share=labeled_share)
