"""The methods that both libraries have, each with its defaults."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method: its name in seraph and in metric-learn, and by how much ours should be faster.

    Parameters
    ----------
    ours, theirs : str
        Names of the classes.
    faster : float
        The aim: seconds of metric-learn over ours, at least.
    seeded : bool
        Whether theirs samples something, and takes a seed.
    """

    ours: str
    theirs: str
    faster: float
    seeded: bool = False


METHODS = {
    "ITML": Method("ITML", "ITML_Supervised", 10.0, seeded=True),
    "LMNN": Method("LMNN", "LMNN", 10.0),
    "NCA": Method("NCA", "NCA", 1.0),
    "MMC": Method("GDM", "MMC_Supervised", 10.0, seeded=True),
    "LFDA": Method("LFDA", "LFDA", 1.0),
}

LIBRARIES = ("seraph", "metric-learn")


def learner(library: str, method: str, seed: int) -> Callable:
    """Return a learner with the defaults of its library.

    The seed is for the pairs that metric-learn samples; ours sample nothing by default.
    """
    if library == "seraph":
        from seraph import classic

        return getattr(classic, METHODS[method].ours)()
    import metric_learn

    seeded = {"random_state": seed} if METHODS[method].seeded else {}
    return getattr(metric_learn, METHODS[method].theirs)(**seeded)
