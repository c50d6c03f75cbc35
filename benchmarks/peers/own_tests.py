"""Run metric-learn's own tests on the stand-in: a plugin of pytest.

    pip download metric-learn==0.7.0 --no-deps --no-binary :all:
    tar xf metric-learn-0.7.0.tar.gz
    touch metric-learn-0.7.0/test/__init__.py
    PYTHONPATH=metric-learn-0.7.0:src:. python -m pytest -p benchmarks.peers.own_tests -W ignore \
        metric-learn-0.7.0/test

with scikit-learn 1.7.2, pandas and pytest. Every module of metric-learn is the stand-in's, except
for its private ones, which its tests call, too. ``metric_learn_test.py`` is in metric-learn's
repository and not in its archive: put it beside the others to count its tests.
"""

import importlib
import pkgutil
import sys

PRIVATE = ("metric_learn._util", "metric_learn.sklearn_shims")

theirs = {name: importlib.import_module(name) for name in PRIVATE}
for name in [name for name in sys.modules if name.partition(".")[0] == "metric_learn"]:
    del sys.modules[name]
ours = importlib.import_module("seraph.compat.metric_learn")
modules = {f"metric_learn.{module.name}" for module in pkgutil.iter_modules(ours.__path__)}
sys.modules |= {"metric_learn": ours, **theirs}
for name in modules:
    sys.modules[name] = importlib.import_module(f"seraph.compat.{name}")
