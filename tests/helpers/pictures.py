"""Figures to draw on, independent of pyplot."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # matplotlib's imports may warn
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

__all__ = ["Figure", "plt", "some_axes"]


def some_axes(n=1):
    """Return `n` axes of a new figure: one, or an array of them."""
    return Figure(figsize=(9.6, 4.4), layout="constrained").subplots(1, n)
