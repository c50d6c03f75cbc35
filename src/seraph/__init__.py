"""Semi-supervised metric learning for scikit-learn: learn a distance from a few labels.

Names are loaded when they are first used, so that ``import seraph`` takes no time.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from ._utils._version import __version__

if TYPE_CHECKING:  # for type checkers and editors; a test compares it with the table below
    from . import (  # noqa: F401
        classic,
        compat,
        metrics,
        persist,
        plot,
        records,
        tables,
    )
    from ._apps.ask._widget import AskWidget
    from ._clustering import constrained_k_means
    from ._decide._classifier import MetricClassifier
    from ._decide._folds import MarksKFold
    from ._decide._judge_screens import ScreenJudgment, judge_screens
    from ._decide._pair_classifier import PairClassifier
    from ._decide._queries import query_rows, query_screens
    from ._decide._space import ForestSpace
    from ._fit import FitState
    from ._learner import MahalanobisLearner
    from ._marks import Marks
    from ._mean import MeanMetric
    from ._seraph import SERAPH
    from ._utils._version import show_versions
    from .persist import load, save
    from .tables._preparer import TablePreparer

__all__ = [
    "SERAPH",
    "AskWidget",
    "FitState",
    "ForestSpace",
    "MahalanobisLearner",
    "Marks",
    "MarksKFold",
    "MeanMetric",
    "MetricClassifier",
    "PairClassifier",
    "ScreenJudgment",
    "TablePreparer",
    "__version__",
    "constrained_k_means",
    "judge_screens",
    "load",
    "query_rows",
    "query_screens",
    "save",
    "show_versions",
]

# Where each name lives.
_HOMES = {
    "_apps.ask._widget": ("AskWidget",),
    "_clustering": ("constrained_k_means",),
    "tables._preparer": ("TablePreparer",),
    "_decide._classifier": ("MetricClassifier",),
    "_decide._folds": ("MarksKFold",),
    "_decide._judge_screens": ("ScreenJudgment", "judge_screens"),
    "_decide._pair_classifier": ("PairClassifier",),
    "_decide._queries": ("query_rows", "query_screens"),
    "_decide._space": ("ForestSpace",),
    "_fit": ("FitState",),
    "_learner": ("MahalanobisLearner",),
    "_seraph": ("SERAPH",),
    "_marks": ("Marks",),
    "_mean": ("MeanMetric",),
    "_utils._version": ("show_versions",),
    "persist": ("load", "save"),
}
# What learners return and files hold: found by name, but not public.
_RETURNED = {
    "_learner": ("MahalanobisMetric",),
}
_PACKAGES = ("classic", "compat", "metrics", "persist", "plot", "records", "tables")
_HOME_OF = {
    name: home for homes in (_HOMES, _RETURNED) for home, names in homes.items() for name in names
}


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return _import_module(f".{name}", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value  # the next use finds it without this function
    return value


def __dir__() -> list[str]:
    special = [name for name in globals() if name.startswith("_")]
    return sorted({*special, *__all__, *_PACKAGES})
