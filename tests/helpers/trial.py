"""Fit a learner of any settings: a warning that is not documented is an error."""

import warnings

from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

DOCUMENTED = (
    r"All \d+ \w+ pairs are (dis)?similar",
    "The standard deviations of the features",
    r"The learned metric is zero \(rank 0\)",
    "The full model is best at kappa = 0",
    r"\w+ does not use the weights of marks",
)


def fitted(learner, X, **known):
    """Fit a learner."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in (ConvergenceWarning, DataConversionWarning):
            warnings.simplefilter("ignore", category)
        for beginning in DOCUMENTED:
            warnings.filterwarnings("ignore", beginning, UserWarning)
        return learner.fit(X, **known)
