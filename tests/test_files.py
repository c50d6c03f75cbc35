"""Files that are written whole: their permissions, links and names stay as they were."""

import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from seraph import save
from seraph._utils._files import write_whole
from seraph.classic import Euclidean

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path, umask):
    assert mode(write_whole(tmp_path / "new", "text")) == 0o666 & ~umask


@pytest.mark.parametrize("permissions", [0o600, 0o664, 0o444])
def test_a_replaced_file_keeps_its_permissions(permissions, tmp_path, umask):
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(permissions)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert mode(path) == permissions


def test_a_link_stays_and_the_file_it_points_to_is_written(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("old", "absent"):
        link = tmp_path / f"link-to-{name}"
        link.symlink_to(folder / name)
        if name == "old":
            (folder / name).write_text("old")
        assert write_whole(link, "new") == link
        assert link.is_symlink()
        assert (folder / name).read_text() == "new"
    assert sorted(path.name for path in folder.iterdir()) == ["absent", "old"]


def test_what_is_no_plain_file_stays_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    model = Euclidean().fit(np.eye(3))
    for name in ("pipe", "link", "folder", ".", "/"):
        path = tmp_path / name
        for write, content in (
            (lambda what, where: write_whole(where, what), "text"),
            (save, model),
        ):
            with pytest.raises(ValueError, match="is not a plain file: choose another name"):
                write(content, path)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = write_whole(tmp_path / ("x" * 250 + ".json"), "text")
    assert path.read_text() == "text"


KILLED = """
import os
from pathlib import Path
from seraph._utils import _files
os.replace = lambda *places: os._exit(9)  # as a kill would end it
_files.write_whole(Path("model.skops"), "half")
"""


def test_what_a_killed_process_left_is_cleaned_up_by_the_next_write(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert done.returncode == 9
    assert len(list(tmp_path.iterdir())) == 1
    write_whole(tmp_path / "other.skops", "whole")
    assert len(list(tmp_path.iterdir())) == 2  # it may still be written
    write_whole(tmp_path / "model.skops", "whole")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["model.skops", "other.skops"]


def test_of_two_writes_at_once_one_stays_and_is_whole(tmp_path):
    path = tmp_path / "model.skops"
    contents = [bytes([k]) * 300_000 for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            list(pool.map(lambda content: write_whole(path, content), contents))
            assert path.read_bytes() in contents
            assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_vanishes_is_not_passed_over_in_silence(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    replace = os.replace

    def too_late(*places):
        shutil.rmtree(folder)
        replace(*places)

    monkeypatch.setattr(os, "replace", too_late)
    with pytest.raises(FileNotFoundError):
        write_whole(folder / "model.skops", "text")


def test_a_file_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "table.md"
    path.write_text("old")

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
