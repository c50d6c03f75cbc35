"""Check that the arrays in a model file fit together.

Compiled code of scikit-learn follows the shapes and the class numbers of a fitted model without
looking, so a file that contradicts itself could make it read other memory. Only contradictions
are refused: no model that was fitted has one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from ._trusted import parts_of

# Attributes of fitted estimators, and the things that each axis counts. Axes with the same word
# have the same length in one estimator; "features" is n_features_in_, "rows" n_samples_fit_.
_OF_EVERY = {"feature_names_in_": "features"}
_SHAPES = {
    "MahalanobisLearner": {
        "components_": "rank features",
        "learned_components_": "learned features",
    },
    "MetricClassifier": {
        "points_": "labeled image",
        "codes_": "labeled",
        "center_": "image",
        "coef_": "classes image",
        "intercept_": "classes",
        "classes_": "classes",
    },
    "KNeighborsClassifier": {"_fit_X": "rows features"},
    "NearestNeighbors": {"_fit_X": "rows features"},
    "KMeans": {"cluster_centers_": "clusters features"},
    "LogisticRegression": {"coef_": "scores features", "intercept_": "scores"},
    "StandardScaler": {"mean_": "features", "var_": "features", "scale_": "features"},
    "MinMaxScaler": {"min_": "features", "scale_": "features"},
    "MaxAbsScaler": {"scale_": "features"},
    "RobustScaler": {"center_": "features", "scale_": "features"},
    "PowerTransformer": {"lambdas_": "features"},
    "QuantileTransformer": {"quantiles_": "quantiles features", "references_": "quantiles"},
    "SimpleImputer": {"statistics_": "features"},
    "KNNImputer": {
        "_fit_X": "rows features",
        "_mask_fit_X": "rows features",
        "_valid_mask": "features",
    },
    "OneHotEncoder": {"categories_": "features", "_n_features_outs": "features"},
    "PCA": {"components_": "rank features", "mean_": "features", "explained_variance_": "rank"},
    "TruncatedSVD": {"components_": "rank features"},
    "KernelPCA": {"X_fit_": "rows features", "eigenvectors_": "rows rank", "eigenvalues_": "rank"},
    "KernelCenterer": {"K_fit_rows_": "features"},
}


def check_shapes(part: Any) -> None:
    """Raise an error if the arrays of a model, or of a part of it, contradict each other."""
    if isinstance(part, KNeighborsClassifier) and hasattr(part, "_y"):
        counts = [len(c) for c in (part.classes_ if part.outputs_2d_ else [part.classes_])]
        if len(part._y) != len(part._fit_X) or not np.all((part._y >= 0) & (part._y < counts)):
            raise ValueError("its neighbors have classes that are not listed")
    names = [base.__name__ for base in type(part).__mro__]
    known = next((_SHAPES[name] for name in names if name in _SHAPES), {})
    attributes = getattr(part, "__dict__", {})
    lengths = {
        axis: attributes[name]
        for axis, name in (("features", "n_features_in_"), ("rows", "n_samples_fit_"))
        if name in attributes
    }
    for name, axes in (_OF_EVERY | known).items():
        value = attributes.get(name)
        if value is None:
            continue
        shape = (len(value),) if isinstance(value, list) else np.shape(value)
        if shape != tuple(map(lengths.setdefault, axes.split(), shape)):
            raise ValueError(f"its {name} does not fit its other attributes")
    for _, inner in parts_of(part):
        check_shapes(inner)
