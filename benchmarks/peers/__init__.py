"""Our learners against metric-learn's: the same splits, errors and seconds side by side.

``python -m benchmarks.peers`` makes a virtual environment with scikit-learn 1.7.2 and
metric-learn 0.7.0, runs both libraries in it, prints the tables, and writes them to
``benchmarks/RESULTS.md`` and ``docs/results/peers.md``.
"""
