"""Figures to draw on that pyplot knows nothing of."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what matplotlib's own imports have to say
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

__all__ = ["Figure", "plt", "some_axes"]


def some_axes(n=1):
    """`n` axes of a figure made by hand; one, or an array of them."""
    return Figure(figsize=(9.6, 4.4), layout="constrained").subplots(1, n)
