"""Adapt frozen embeddings from few marks: ours against what people use.

``python -m benchmarks.embeddings`` lists the commands. Sets, rivals and records are those of
``benchmarks.evidence``; the ways to mark are this package's own (``_tasks.py``).
"""
