"""Files that are written atomically: their permissions, links and names stay as they were."""

import os
import stat

import numpy as np
import pytest

from seraph import save
from seraph.classic import Euclidean
from seraph.persist._write import write_whole

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


@pytest.mark.parametrize("permissions", [None, 0o600, 0o664, 0o444])
def test_a_replaced_file_keeps_its_permissions_and_the_umask_decides_on_a_new_one(
    permissions, tmp_path, umask
):
    path = tmp_path / "table.csv"
    if permissions is not None:
        path.write_text("old")
        path.chmod(permissions)
    assert write_whole(str(path), "new") == path
    assert path.read_text() == "new"
    expected = 0o666 & ~umask if permissions is None else permissions
    assert stat.S_IMODE(path.stat().st_mode) == expected


@pytest.mark.parametrize("content", ["new", b"new", lambda file: file.write(b"new")])
@pytest.mark.parametrize("name", ["old", "absent"])
def test_a_link_stays_and_the_file_it_points_to_is_written(name, content, tmp_path):
    (tmp_path / "old").write_text("old")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / name)
    assert write_whole(link, content) == link
    assert link.is_symlink()
    assert (tmp_path / name).read_text() == "new"


@pytest.mark.parametrize(
    "write",
    [lambda path: write_whole(path, "text"), lambda path: save(Euclidean().fit(np.eye(3)), path)],
)
def test_folders_and_pipes_stay_as_they_are(write, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder", "."):
        with pytest.raises(ValueError, match="is not a plain file: choose another name"):
            write(tmp_path / name)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_file_is_written_completely_or_not_at_all(failure, tmp_path):
    path = tmp_path / "table.md"
    path.write_text("old")

    def fail(file):
        file.write(b"half")
        raise failure

    with pytest.raises(failure):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
