"""The methods that both libraries have, each with its defaults: ours, its stand-in, theirs."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method: its names in seraph and in metric-learn, and what to expect of it."""

    ours: str
    theirs: str
    faster: float  # the aim: seconds of metric-learn over ours, at least
    seeded: bool = False  # whether theirs samples something, and takes a seed


METHODS = {
    "ITML": Method("ITML", "ITML_Supervised", 10.0, seeded=True),
    "LMNN": Method("LMNN", "LMNN", 10.0),
    "NCA": Method("NCA", "NCA", 1.0),
    "MMC": Method("GDM", "MMC_Supervised", 10.0, seeded=True),
    "LFDA": Method("LFDA", "LFDA", 1.0),
    "SCML": Method("SCML", "SCML_Supervised", 3.0, seeded=True),
    "LSML": Method("LSML", "LSML_Supervised", 1.0, seeded=True),
    "SDML": Method("SDML", "SDML_Supervised", 1.0, seeded=True),
    "RCA": Method("RCA", "RCA_Supervised", 1.0, seeded=True),
    "MLKR": Method("MLKR", "MLKR", 1.0),
    "Covariance": Method("Covariance", "Covariance", 1.0),
}

OURS = ("seraph", "stand-in")
THEIRS = "metric-learn"
LIBRARIES = (*OURS, THEIRS)
# RCA_Supervised asks for 100 chunks of two by default, more than few labeled rows have.
CHUNKS = {"n_chunks": 15}


def learner(library: str, method: str, seed: int) -> Callable:
    """Return a learner with the defaults of its library; "stand-in" is `seraph.compat`'s.

    The seed is for the pairs that metric-learn samples; ours sample nothing by default, but
    for SCML's clusters.
    """
    if library == "seraph":
        from seraph import classic

        seeded = {"random_state": seed} if method == "SCML" else {}
        return getattr(classic, METHODS[method].ours)(**seeded)
    if library == "stand-in":
        from seraph.compat import metric_learn
    else:
        import metric_learn

    seeded = {"random_state": seed} if METHODS[method].seeded else {}
    chunks = CHUNKS if method == "RCA" else {}
    return getattr(metric_learn, METHODS[method].theirs)(**seeded, **chunks)
