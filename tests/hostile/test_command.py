"""The command line under Ctrl-C, and text that a spreadsheet would compute."""

import os
import subprocess
import sys

import pandas as pd
import pytest

from seraph._apps.cli._tables._write import csv_bytes
from tests.helpers.command import seraph

SCRIPT = "import sys\nfrom seraph.__main__ import main\nsys.exit(main())\n"  # as pip makes it


@pytest.mark.parametrize(
    ("package", "way"),
    [("numpy", "module"), ("numpy", "script"), ("typer", "module")],
)
def test_an_interrupt_while_importing_shows_one_line(tmp_path, package, way):
    # A package that raises what Ctrl-C raises, at a moment that a test can choose.
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("raise KeyboardInterrupt\n")
    script = tmp_path / "seraph"
    script.write_text(SCRIPT)
    command = ["-m", "seraph"] if way == "module" else [script]
    paths = [tmp_path, *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, *command, "demo", "--samplings", "1"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == "seraph: interrupted before any file was written.\n"


def test_cells_that_a_spreadsheet_computes_are_written_as_they_are_with_a_note():
    cells = ["=1+1", "@SUM(A1)", "-x", "+x", "\tx"]
    for cell in cells:
        with pytest.warns(
            UserWarning, match=r"Column 'id' has 1 cells .* import the file"
        ) as seen:
            csv_bytes({"id": [cell, "-1", "+2.5", "a-b", "", None], "x": [-0.5] * 6})
        assert repr(cell) in str(seen[0].message)
    with pytest.warns(UserWarning, match="Column '=x' has 1 cells"):
        csv_bytes({"=x": [1.0]})
    assert csv_bytes({"id": ["-1", "a=b"], "x": [-1.0, 1.0]}) == b"id,x\n-1,-1.0\na=b,1.0\n"


def test_the_note_is_shown_by_a_command_that_writes_such_a_cell(tmp_path):
    frame = pd.DataFrame({"a": range(8), "b": [0, 5, 1, 3, 2, 8, 1, 4]})
    frame["class"] = [*"xxyy", *[""] * 4]
    frame["id"] = [*"stuvwxy", "=cmd|' /C calc'!A0"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--label", "class", "--id", "id", "--no-check")
    assert seraph(*fit, "-o", tmp_path / "m.skops").code == 0
    options = ("--id", "id", "-o", tmp_path / "out.csv")
    done = seraph("transform", tmp_path / "m.skops", tmp_path / "t.csv", *options)
    assert done.code == 0
    assert "seraph: note: Column 'id' has 1 cells" in done.err
    assert pd.read_csv(tmp_path / "out.csv")["id"].tolist() == frame["id"].tolist()
