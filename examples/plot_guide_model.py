r"""
What a pair says
================

A pair at squared distance :math:`d^2` is alike with probability

.. math:: p = \frac{1}{1 + e^{d^2 - \eta}},

and each kind of pair adds its own term to what SERAPH maximises: :math:`\ln p` for a pair that is
labelled alike, :math:`\ln(1 - p)` for one that is labelled different, and minus :math:`\mu` times
the entropy :math:`H(p)` for one without a label. The right picture shows the derivatives of the
three, the forces on the distance: the first pulls, most on pairs that are far apart; the second
pushes, most on pairs that are close; the third moves a pair away from the threshold
:math:`\eta`, to whichever side it is on, and leaves those alone that are far from it.

The picture shows one pair of each kind, with ``eta=1`` and ``mu=1``. In a fit there are many more
pairs without a label than with one, and ``mu="auto"`` makes both kinds count the same in all.
"""

import matplotlib.pyplot as plt
import numpy as np

d2 = np.linspace(0, 6, 400)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")

for eta, style in ((1.0, "-"), (3.0, "--")):
    left.plot(d2, 1 / (1 + np.exp(d2 - eta)), style, color="C0", label=f"eta = {eta:g}")
left.axhline(0.5, color="0.7", linewidth=1)
left.set(xlabel="squared distance", ylabel="probability of being alike", ylim=(0, 1))
left.legend()

# The forces, for eta = 1 and one pair of each kind.
t = d2 - 1.0
p = 1 / (1 + np.exp(t))
for force, color, text, place in (
    (p, "C3", "labelled different: pushed apart", (1.1, 0.52)),
    (p * (1 - p) * t, "C0", "unlabelled: decided", (2.9, 0.25)),
    (p - 1, "C2", "labelled alike: pulled together", (2.2, -0.65)),
):
    right.plot(d2, force, color=color)
    right.annotate(text, place, color=color)
right.axhline(0.0, color="0.7", linewidth=1)
right.axvline(1.0, color="0.7", linewidth=1, linestyle=":")
right.set(xlabel="squared distance", ylabel="force on the squared distance")
plt.show()
