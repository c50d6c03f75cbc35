"""A process that is killed while it writes leaves a whole file or none, whatever the moment."""

import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from seraph import SERAPH, load, save
from seraph.classic import Euclidean
from tests.helpers.command import seraph

WRITER = """
import sys
import numpy as np
from seraph import save
from seraph.classic import Euclidean
rng = np.random.default_rng(0)
models = [Euclidean().fit(rng.normal(size=(5, 300)) * k) for k in (1, 2)]
while True:
    for model in models:
        save(model, sys.argv[1])
    print(flush=True)
"""


kills = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")


@kills
@pytest.mark.slow
def test_a_model_file_is_whole_whenever_its_writer_is_killed(tmp_path):
    path = tmp_path / "m.skops"
    rng = random.Random(0)
    for _ in range(20):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout.readline()  # it is writing now
            time.sleep(rng.uniform(0.0, 0.1))
            writer.kill()
        assert load(path).components_.shape == (300, 300)
    # The next write removes what a killed one may have left.
    save(Euclidean().fit(np.eye(3)), path)
    assert [file.name for file in tmp_path.iterdir()] == ["m.skops"]


FITTER = """
import sys, warnings
import numpy as np
from seraph import SERAPH
from seraph._engine import _checkpoint
warnings.simplefilter("ignore")
_checkpoint.EVERY = 0.0  # write after every sum
rng = np.random.default_rng(0)
X, y = rng.normal(size=(120, 8)), np.where(np.arange(120) < 30, np.arange(120) % 3, -1)
print(flush=True)
SERAPH(checkpoint=sys.argv[1], tol=1e-9, max_iter=5000, solver="spg", backend="numpy").fit(X, y)
"""


@kills
@pytest.mark.parametrize("n_kills", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_a_checkpoint_can_be_used_whenever_its_fit_is_killed(tmp_path, n_kills):
    path = tmp_path / "fit.ckpt"
    rng = random.Random(n_kills)
    for _ in range(n_kills):
        with subprocess.Popen(
            [sys.executable, "-c", FITTER, str(path)], stdout=subprocess.PIPE
        ) as fitter:
            assert fitter.stdout.readline()  # it begins now
            deadline = time.monotonic() + 60
            while not path.exists() and fitter.poll() is None and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.05))
            fitter.kill()
    gen = np.random.default_rng(0)
    X, y = gen.normal(size=(120, 8)), np.where(np.arange(120) < 30, np.arange(120) % 3, -1)
    learner = SERAPH(tol=1e-2, max_iter=20, solver="spg", backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = clone(learner).fit(X, y)
        resumed = clone(learner).set_params(checkpoint=path).fit(X, y)
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert list(tmp_path.iterdir()) == []  # neither the checkpoint nor a journal of SQLite's


COMMAND = """
import sys
from seraph._apps.cli import main
from seraph._utils._files import _whole
write = _whole.os.fsync
def slowly(number):
    print(flush=True)  # all is written, nothing is moved yet
    sys.stdin.readline()
    write(number)
_whole.os.fsync = slowly
sys.argv = ["seraph", *sys.argv[1:]]
main()
"""


@kills
@pytest.mark.slow
@pytest.mark.parametrize("exists", [True, False])
def test_a_command_that_is_killed_while_it_writes_leaves_the_old_table_or_none(tmp_path, exists):
    model, data, out = (tmp_path / name for name in ("m.skops", "data.npy", "out.csv"))
    save(Euclidean().fit(np.eye(3)), model)
    np.save(data, np.eye(3))
    if exists:
        out.write_text("old")
    arguments = ["transform", str(model), str(data), "-o", str(out)]
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline()
        writer.kill()
    assert out.exists() == exists
    assert not exists or out.read_text() == "old"
    assert seraph(*arguments).code == 0  # and removes what the killed one left
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npy", "m.skops", "out.csv"]
