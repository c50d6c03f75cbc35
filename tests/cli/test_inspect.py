"""What `seraph inspect` says about models that Python has saved."""

import re

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, save
from tests.helpers.command import seraph


def test_the_shares_of_a_model_from_python_are_those_of_its_metric(tmp_path, wine):
    X, y, _ = wine
    model = make_pipeline(StandardScaler(), SERAPH()).fit(X, y)
    save(model, tmp_path / "model.skops")
    out = seraph("inspect", tmp_path / "model.skops").out
    diagonal = np.diag(model[-1].get_mahalanobis_matrix())
    shares = 100 * diagonal / diagonal.sum()
    for k in np.argsort(-shares)[:5]:
        assert re.search(rf"x{k}\W+{shares[k]:.1f} %", out)
