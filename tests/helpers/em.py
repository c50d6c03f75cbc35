"""The EM-like scheme with few M-steps, or around another solver: entries of the table."""

from dataclasses import replace

from seraph._solvers import SOLVERS


def em(m_steps, around="em"):
    """Name of a solver with at most this number of M-steps, in the table from now on."""
    name = f"{around}, {m_steps} M-steps"
    SOLVERS[name] = replace(SOLVERS[around], m_steps=m_steps)
    return name
