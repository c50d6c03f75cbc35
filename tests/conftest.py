import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def wine():
    """Wine in z-scores / sqrt(m), a third of the labels hidden at random."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(X.shape[1])
    order = np.random.default_rng(0).permutation(len(X))[:80]
    X, y = X[order], y[order]
    y_partial = y.copy()
    y_partial[15:] = -1
    return X, y_partial, y


@pytest.fixture(scope="session")
def digits():
    """Digits in [0, 1], 30 of 200 labelled."""
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.data))[:200]
    X, y = data.data[order] / 16.0, data.target[order]
    y_partial = y.copy()
    y_partial[30:] = -1
    return X, y_partial, y
