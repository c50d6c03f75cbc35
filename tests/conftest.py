import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run; HYPOTHESIS_PROFILE=nightly looks at 40 times as many new ones.
slow_is_fine = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile(
    "default", max_examples=10, derandomize=True, database=None, **slow_is_fine
)
settings.register_profile("nightly", max_examples=400, print_blob=True, **slow_is_fine)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_make_parametrize_id(val, argname):
    """Leave bytes out of names: compressed ones hold the time, which differs between workers."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def wine():
    """80 rows of wine in z-scores / sqrt(m): X, y with the first 15 labels alone, all of y."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(X.shape[1])
    order = np.random.default_rng(0).permutation(len(X))[:80]
    X, y = X[order], y[order]
    y_partial = y.copy()
    y_partial[15:] = -1
    return X, y_partial, y


@pytest.fixture(scope="session")
def digits():
    """200 digits in [0, 1]: X, y with the first 30 labels alone, all of y."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.data))[:200]
    X, y = data.data[order] / 16.0, data.target[order]
    y_partial = y.copy()
    y_partial[30:] = -1
    return X, y_partial, y
