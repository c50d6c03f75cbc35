import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# How many errors there are of each kind, and after how many `make test` stops.
ALL = {"fused": 90, "samples": 16, "tiles": 6, "wide": 4, "stripes": 6}
FEW = {"fused": 4, "samples": 2, "tiles": 2, "wide": 2, "stripes": 2}


@pytest.mark.parametrize(
    "n_errors", [FEW, pytest.param(ALL, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_kernels_agree_with_numpy_in_the_interpreter(n_errors):
    """The interpreter is chosen when triton is imported, hence in a process of its own."""
    script = Path(__file__).parents[1] / "helpers" / "interpreted_kernel.py"
    asked = FEW if n_errors is FEW else dict.fromkeys(ALL)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", script, json.dumps(asked)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    errors = json.loads(run.stdout)
    counts = {name: len(found) for name, found in errors.items()}
    assert counts == n_errors
    assert max(errors["fused"] + errors["samples"] + errors["wide"]) < 1e-5
    assert max(errors["stripes"]) < 1e-6
    assert max(errors["tiles"]) < 1e-12
