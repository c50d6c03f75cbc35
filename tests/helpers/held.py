"""Held-out pairs to choose and to judge by."""

import numpy as np

from seraph._decide._held_out import HeldOut


def equal_pairs(distances, similar, rows, fold):
    """Pairs that all count the same."""
    return HeldOut(distances[:, np.newaxis], similar, rows, fold, *2 * [np.ones(len(distances))])
