"""Benchmarks: each module prints a table, everything in it measured in one run."""
