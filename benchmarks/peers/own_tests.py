"""Run metric-learn's own tests on the stand-in: a plugin of pytest.

    pip download metric-learn==0.7.0 --no-deps --no-binary :all:
    tar xf metric-learn-0.7.0.tar.gz
    touch metric-learn-0.7.0/test/__init__.py
    PYTHONPATH=metric-learn-0.7.0:src:. python -m pytest -p benchmarks.peers.own_tests -W ignore \
        metric-learn-0.7.0/test

with metric-learn 0.7.0, scikit-learn 1.7.2, pandas and pytest. Every module of metric-learn is the
stand-in's, except for two private ones, and the class of one of them, which its tests call, too.
``metric_learn_test.py`` is in metric-learn's repository and not in its archive: put it beside the
others to count its tests.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec

PRIVATE = [find_spec(f"metric_learn.{name}") for name in ("_util", "sklearn_shims")]

for name in [name for name in sys.modules if name.partition(".")[0] == "metric_learn"]:
    del sys.modules[name]
sys.modules["metric_learn"] = ours = import_module("seraph.compat.metric_learn")
for name in [name for name in sys.modules if name.startswith(f"{ours.__name__}.")]:
    sys.modules[name.removeprefix("seraph.compat.")] = sys.modules[name]
for spec in PRIVATE:
    sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[spec.name])
sys.modules["metric_learn.base_metric"].ArrayIndexer = sys.modules[
    "metric_learn._util"
].ArrayIndexer
