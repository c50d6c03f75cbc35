"""The demonstration on penguins. The page of clusters compares it with the table of penguins."""

import re

from tests.helpers.command import seraph


def test_the_demo_shows_that_learning_helps_in_three_lines_and_a_picture(tmp_path):
    done = seraph("demo", "--samplings", "2", "--picture", tmp_path / "demo.png")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 3
    found = dict(re.findall(r"^  (\w+) +([\d.]+) ", done.out, re.MULTILINE))
    assert float(found["MeanMetric"]) > 0.9 > float(found["Euclidean"])
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
