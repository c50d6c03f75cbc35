"""The demonstration on digits says what its rows are."""

import re

from seraph._apps.demo._digits import LEARNERS
from tests.helpers.command import seraph


def test_every_method_of_the_demo_is_explained_in_a_line(tmp_path):
    done = seraph("demo", "--samplings", "1", "--picture", tmp_path / "demo.png")
    assert done.code == 0, done.err
    for name in LEARNERS:
        assert len(re.findall(rf"^  {name} +[a-zE]", done.out, re.MULTILINE)) == 1, name
