"""Text that a spreadsheet would compute."""

import pandas as pd
import pytest

from seraph._apps.cli._tables._write import csv_bytes
from tests.helpers.command import seraph


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
