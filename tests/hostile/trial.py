"""Run one case: it must end in time, with a result or an error of ours, and without noise."""

import io
import re
import warnings
from contextlib import redirect_stdout

from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError

from tests.helpers.trial import helps, time_limit

SECONDS = 20  # of processor time
OURS = (UserWarning, ConvergenceWarning, DataConversionWarning)


def guarded(act, *others):
    """Return the result or the error of `act`, and the texts of its warnings.

    Whatever is neither an error that helps, nor one of the classes `others`, nor a warning for
    users passes through.
    """
    with (
        warnings.catch_warnings(record=True) as caught,
        time_limit(SECONDS),
        redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("always")
        try:
            result = act()
        except (NotFittedError, *others) as error:
            result = error
        except (ValueError, TypeError, NotImplementedError) as error:
            if not helps(error):
                raise
            result = error
    for warning in caught:
        assert warning.category in OURS, f"{warning.category.__name__}: {warning.message}"
    notes = [str(warning.message) for warning in caught]
    check_words(*notes, *([str(result)] if refused(result) else []))
    return result, notes


def check_words(*messages):
    """Check that no message has numpy's way to write a number, or a whole table."""
    for message in messages:
        assert not re.search(r"np\.\w+\(", message), message
        assert len(message) < 2000, message


def refused(result):
    return isinstance(result, Exception)
