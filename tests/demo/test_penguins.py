"""The demonstration on penguins."""

import csv
import json
import re

import numpy as np

from tests.helpers.command import seraph
from tests.helpers.public import ROOT


def test_the_demo_shows_that_learning_helps_in_three_lines_and_a_picture(tmp_path):
    done = seraph("demo", "--samplings", "2", "--picture", tmp_path / "demo.png")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 3
    found = dict(re.findall(r"^  (\w+) +([\d.]+) ", done.out, re.MULTILINE))
    assert float(found["MeanMetric"]) > 0.9 > float(found["Euclidean"])
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_has_the_complete_penguins_of_the_guides():
    columns = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    with (ROOT / "docs/data/penguins.csv").open(encoding="utf-8") as file:
        birds = [bird for bird in csv.DictReader(file) if "NA" not in bird.values()]
    path = ROOT / "src/seraph/_apps/demo/penguins.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    assert [name for name, rows in table.items() for _ in rows] == [b["species"] for b in birds]
    measured = [[float(bird[column]) for column in columns] for bird in birds]
    np.testing.assert_array_equal(np.concatenate(list(table.values())), measured)
