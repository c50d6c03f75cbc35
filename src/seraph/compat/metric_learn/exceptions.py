"""The errors of metric-learn's own."""

from numpy.linalg import LinAlgError

__all__ = ["NonPSDError", "PreprocessorError"]


class PreprocessorError(Exception):
    """The preprocessor failed.

    Parameters
    ----------
    original_error : Exception
        What it raised.

    Examples
    --------
    >>> from seraph.compat.metric_learn.exceptions import PreprocessorError
    >>> print(PreprocessorError(KeyError("a.png")))
    The preprocessor raised KeyError('a.png').
    """

    def __init__(self, original_error: Exception) -> None:
        super().__init__(f"The preprocessor raised {original_error!r}.")


class NonPSDError(LinAlgError):
    """A matrix that must be positive semi-definite is not.

    Parameters
    ----------
    message : str, optional
        What was wrong.

    Examples
    --------
    >>> from seraph.compat.metric_learn.exceptions import NonPSDError
    >>> print(NonPSDError())
    The matrix is not positive semi-definite.
    """

    def __init__(self, message: str = "The matrix is not positive semi-definite.") -> None:
        super().__init__(message)
