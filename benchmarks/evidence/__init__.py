"""Measure whether a learned metric helps, when, and against what.

``python -m benchmarks.evidence`` lists the commands. The data sets come inside public packages,
and each one is for choosing defaults or for judging them, never for both (``_data.py``).
"""
