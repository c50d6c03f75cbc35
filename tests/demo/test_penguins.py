"""The demonstration on digits."""

import re

from tests.helpers.command import seraph


def test_the_demo_shows_that_learning_helps_and_draws_a_picture(tmp_path):
    done = seraph("demo", "--samplings", "2", "--picture", tmp_path / "demo.png")
    assert done.code == 0, done.err
    errors = dict(re.findall(r"^  (\w+) +([\d.]+) ±", done.out, re.MULTILINE))
    assert float(errors["MeanMetric"]) < float(errors["Euclidean"])
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
