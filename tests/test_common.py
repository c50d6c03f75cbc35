"""What scikit-learn asks of every estimator."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from seraph import SERAPH


@pytest.mark.parametrize(
    "estimator",
    [
        SERAPH(),
        SERAPH(algorithm="em"),
        SERAPH(n_components=1),
        SERAPH(n_jobs=2),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")  # its odd data sets deserve our warnings
def test_check_estimator(estimator):
    results = check_estimator(estimator, on_skip=None)
    passed = [r["check_name"] for r in results if r["status"] == "passed"]
    skipped = [r["check_name"] for r in results if r["status"] == "skipped"]
    assert len(passed) > 30
    assert set(skipped) <= {"check_array_api_input"}  # needs an environment variable of scipy
