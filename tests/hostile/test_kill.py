"""A process that is killed while it writes leaves a whole file, whatever the moment."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from seraph import load, save
from seraph.classic import Euclidean

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


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("n_kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_model_file_is_whole_whenever_its_writer_is_killed(tmp_path, n_kills):
    path = tmp_path / "m.skops"
    rng = random.Random(n_kills)
    for _ in range(n_kills):
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
