"""The comparison of duplicates: what is counted as right, and as held by a range."""

import json

import numpy as np
import pandas as pd

from benchmarks import duplicates
from tests.helpers.people import people


def test_pairs_are_judged_by_the_true_ones():
    true = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    found = duplicates.judged(np.array([[0, 1], [2, 3], [0, 2]]), true)
    assert found["precision"] == 2 / 3
    assert found["recall"] == 1 / 2
    assert np.isclose(found["f1"], 4 / 7)
    assert duplicates.judged(np.empty((0, 2), dtype=int), true)["f1"] == 0.0


def test_ranges_are_compared_with_the_truth_and_a_run_goes_on(tmp_path, capsys):
    table, person = people(60, 40)
    i, j = np.triu_indices(len(table), 1)
    alike = person[i] == person[j]
    (tmp_path / "sets" / "people").mkdir(parents=True)
    table.insert(0, "rid", np.arange(len(table)))
    table.to_csv(tmp_path / "sets" / "people" / "table.csv", index=False)
    matches = pd.DataFrame({"i": i[alike], "j": j[alike]})
    matches.to_csv(tmp_path / "sets" / "people" / "matches.csv", index=False)
    command = [str(tmp_path / "sets"), "--sets", "people", "--seeds", "1", "--ranges"]
    command += ["--out", str(tmp_path / "out")]
    duplicates.main(command)
    (line,) = (tmp_path / "out" / "records.jsonl").read_text().splitlines()
    record = json.loads(line)
    held = [
        int(record["said"][k + 1] <= record[what] <= record["said"][k + 2])
        for k, what in ((0, "precision"), (3, "recall"))
    ]
    assert record["recall"] > 0.8
    # Another run that was said to be surer than it was.
    wrong = {**record, "seed": 1, "precision": 0.5, "said": [0.9, 0.8, 0.95, 0.7, 0.6, 0.8]}
    with (tmp_path / "out" / "records.jsonl").open("a") as file:
        file.write(json.dumps(wrong) + "\n")
    capsys.readouterr()
    duplicates.main([*command, "--seeds", "2"])  # nothing is left to do
    row = capsys.readouterr().out.splitlines()[-1].strip("| ").split(" | ")
    assert row[:2] == ["all", "2"]
    assert [int(row[3]), int(row[5])] == [held[0], held[1] + (0.6 <= record["recall"] <= 0.8)]
