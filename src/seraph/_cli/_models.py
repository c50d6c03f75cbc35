"""Models from files, and the points of a table as a model wants them."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._tables import Table

# Where `seraph fit` leaves what it knows of the table, for `seraph inspect`.
LEARNED_FROM = "learned_from_"


@dataclass(frozen=True)
class Model:
    """A fitted model: a learner, and what stands before it in a pipeline.

    Parameters
    ----------
    path : Path
        Where it was read.
    whole : estimator
        All of it.
    """

    path: Path
    whole: Any

    @classmethod
    def read(cls, path: Path) -> Model:
        """Load a model, and see that it is one that maps points."""
        from sklearn.utils.validation import check_is_fitted

        from ..persist import load

        if path.is_dir():
            raise ValueError(f"{path} is a folder, not a model.")
        whole = load(path)
        if not hasattr(whole, "transform"):
            raise ValueError(
                f"{path} holds a {type(whole).__name__}, which maps no points: save the learner "
                "of the metric, or a pipeline that ends in one."
            )
        check_is_fitted(whole)
        return cls(path, whole)

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """Names and estimators, from the first to the last."""
        return list(getattr(self.whole, "steps", [("learner", self.whole)]))

    @property
    def learner(self) -> Any:
        """The last step: the learner of the metric."""
        return self.steps[-1][1]

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns it was fitted on; None if they had none."""
        names = getattr(self.whole, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @property
    def learned_from(self) -> dict[str, Any]:
        """What `seraph fit` has noted of the table; empty for a model from elsewhere."""
        return dict(getattr(self.whole, LEARNED_FROM, {}))

    def points(self, table: Table, without: Collection[str | None] = ()) -> Any:
        """The features of a table, in the order of the model's; others are left out.

        Parameters
        ----------
        table : Table
            The table.
        without : collection of str
            Columns that are no features, for a model that knows no names.
        """
        left_out = [name for name in without if name is not None]
        names = self.feature_names
        if names is None:
            points = table.points(without=left_out)
            expected = self.whole.n_features_in_
            if points.shape[1] != expected:
                raise ValueError(
                    f"{table.path} has {points.shape[1]} columns of features, and the model in "
                    f"{self.path} was fitted on {expected}."
                )
            return getattr(points, "to_numpy", lambda: points)()
        for name in left_out:
            table.cells(name)
        points = table.points(names)
        if table.names is None:
            import pandas as pd

            warnings.warn(
                f"{table.path} has no names of columns: they are taken in the order of the "
                f"model's ({names[0]}, ...).",
                stacklevel=2,
            )
            points = pd.DataFrame(points, columns=names, copy=False)
        return points

    def before_learner(self, points: Any) -> Any:
        """Points as the learner sees them, behind the scaler."""
        return self.whole[:-1].transform(points) if len(self.steps) > 1 else points

    def pair_proba(self, points: Any, pairs: NDArray) -> NDArray:
        """Probability that pairs of rows are alike."""
        import numpy as np

        seen = np.asarray(self.before_learner(points))
        return np.asarray(self.learner.pair_proba(seen[pairs]), dtype=np.float64)

    def has(self, method: str) -> bool:
        """Whether the learner can do this."""
        return hasattr(self.learner, method)
