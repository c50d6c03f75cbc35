"""Files that are written whole: their permissions, links and names stay as they were."""

import os
import stat

import pytest

from seraph._files import write_whole

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
