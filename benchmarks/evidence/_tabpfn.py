"""TabPFN version 1, a network that predicts classes from examples (Hollmann et al. 2023).

The checkpoint is in PyPI's source archive of version 0.1, the code in the wheel of 0.1.11. It was
written for older releases of PyTorch and scikit-learn: `_mended` fills the gaps for a while.
"""

import contextlib
import typing
from functools import lru_cache, wraps

import numpy as np

from ._packages import Unavailable, fetch, importable

FEATURES, CLASSES, ROWS = 100, 10, 1000  # it takes no more


class TooLarge(ValueError):
    """A set has more features, classes or rows than a method takes."""


class TabPFN:
    """TabPFN with its defaults: the mean of three predictions, with features and classes shifted.

    Parameters
    ----------
    seed : int
        Seed of the shifts.
    """

    def __init__(self, seed):
        self.seed = seed

    def fit(self, X, y):
        if X.shape[1] > FEATURES or len(np.unique(y)) > CLASSES or len(X) > ROWS:
            raise TooLarge(
                f"TabPFN takes {FEATURES} features, {CLASSES} classes and {ROWS} rows; got "
                f"{X.shape[1]}, {len(np.unique(y))} and {len(X)}."
            )
        with _mended():
            self.model_ = _make(self.seed).fit(X, y)
        return self

    def predict_proba(self, X):
        with _mended():
            return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.classes_[self.predict_proba(X).argmax(axis=1)]


def _make(seed):
    folder = fetch("tabpfn-checkpoint") / "tabpfn-0.1" / "tabpfn"
    return _interface().TabPFNClassifier(base_path=folder, seed=seed)


@lru_cache(maxsize=1)
def _interface():
    with importable("tabpfn"):
        from tabpfn.scripts import transformer_prediction_interface
    return transformer_prediction_interface


@contextlib.contextmanager
def _mended():
    """Offer what the code expects of older releases: two names, and a default of torch.load."""
    try:
        import torch
        from torch.nn.modules import transformer
    except ImportError as error:
        raise Unavailable("torch is missing: pip install '.[torch]', and try again.") from error
    from sklearn.utils import validation

    def renamed(check):
        @wraps(check)
        def call(*arguments, **named):
            if "force_all_finite" in named:
                named["ensure_all_finite"] = named.pop("force_all_finite")
            return check(*arguments, **named)

        return call

    transformer.Optional = typing.Optional
    load, checks = torch.load, (validation.check_X_y, validation.check_array)
    torch.load = lambda *a, **named: load(*a, **named, weights_only=False)
    validation.check_X_y, validation.check_array = map(renamed, checks)
    try:
        yield
    finally:
        torch.load = load
        validation.check_X_y, validation.check_array = checks
