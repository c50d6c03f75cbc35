r"""
Ask in a notebook
=================

``AskWidget`` asks which rows are the same: tap those like the first. It learns meanwhile, and
shows how good the distance is, and a map. With ``path="answers.csv"`` every screen is in the file
before the next one shows, so nothing is lost when the kernel is restarted.

.. image:: /images/ask-widget.png
   :alt: The widget below a cell of JupyterLab: a handwritten digit, and seven to tap

The page shows texts, too (``show=reviews``), pictures and sounds (``show=paths``), or a table.
"""

from sklearn.datasets import load_digits

from seraph import AskWidget, MeanMetric

images, _ = load_digits(return_X_y=True)
ask = AskWidget(images[:300] / 16.0)
ask  # noqa: B018

# %%
# After some screens, the next cell learns from the answers. (Nobody has tapped on this page.)

print(ask.marks)
if len(ask.marks.pairs):
    learner = MeanMetric().fit(images[:300] / 16.0, marks=ask.marks)
