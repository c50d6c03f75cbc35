"""Every answer is in the file at once, and nothing that was in it is lost."""

import errno
import os
import stat
import sys

import pytest

from seraph._apps.ask._answers import Answer, AnswerFile, ClassFormat, PairFormat
from seraph._apps.ask._row_names import digest

IDS = ["a", "b,c", 'd"e', "naïve 4"]
HEADER = "i,j,similar,id_i,id_j,test_weight,content,when\n"
SOME = [Answer((0, 1), True), Answer((1, 2), False, 0.25), Answer((0, 3), None)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.csv"


def opened(path, ids=IDS, form=None):
    return AnswerFile(path, ids, form or PairFormat())


def write(path, answers=SOME, form=None):
    with opened(path, form=form) as file:
        for answer in answers:
            file.add(answer)
    return path.read_bytes()


def read(path, ids=IDS, form=None):
    with opened(path, ids, form) as file:
        return list(file.answers)


def test_an_answer_is_in_the_file_when_add_returns(path):
    with opened(path) as file:
        file.add(SOME[0])
        assert path.read_text().splitlines()[1].startswith('0,1,1,a,"b,c",,,20')


def test_what_is_written_is_read_again(path):
    write(path)
    assert read(path) == SOME
    path.unlink()
    some = [Answer((3,), "x, y"), Answer((0,), None), Answer((1,), "z", 1.0)]
    write(path, some, form=ClassFormat())
    assert read(path, form=ClassFormat()) == some


def test_an_answer_that_is_given_twice_has_two_lines(path):
    before = write(path, SOME[1:])
    write(path, SOME[:1])
    with opened(path) as file:
        file.replace(SOME[0])
        twice = Answer((0, 1), True, times=2)
        assert file.answers == [*SOME[1:], twice]
    assert [line.split(",")[:3] for line in path.read_text().splitlines()[-2:]] == 2 * [
        ["0", "1", "1"]
    ]
    assert read(path) == [*SOME[1:], twice]
    with opened(path) as file:
        assert file.contradicted == []
        assert file.undo() == twice
    assert path.read_bytes() == before
    write(path, SOME[:1])
    with opened(path) as file:
        file.replace(Answer((0, 1), False))
    assert read(path) == [*SOME[1:], Answer((0, 1), False)]


def test_undo_leaves_the_file_as_it_was(path):
    before = write(path, SOME[:2])
    with opened(path) as file:
        file.add(SOME[2])
        assert file.undo() == SOME[2]
        assert path.read_bytes() == before
        assert file.undo() == SOME[1]
        assert file.undo() == SOME[0]
        assert file.undo() is None
    assert read(path) == []


def test_a_line_that_a_killed_process_left_unfinished_is_dropped(path):
    whole = write(path)
    for cut in (23, 29):
        path.write_bytes(whole[:-cut])
        assert read(path) == SOME[:2]
        write(path, [SOME[2]])
        assert read(path) == SOME


def test_a_last_line_that_says_all_is_kept_although_its_end_is_missing(path):
    whole = write(path)
    for cut in (1, 2, 9, 21):
        path.write_bytes(whole[:-cut])
        assert read(path) == SOME
        assert path.read_bytes() == whole[:-cut] + b"\n"
        write(path, [Answer((2, 3), True)])
        assert read(path) == [*SOME, Answer((2, 3), True)]


def test_the_times_of_answers_stay_when_rows_have_moved(path):
    then = write(path).replace(b",20", b",19")  # of another century
    path.write_bytes(then)
    read(path, IDS[::-1])
    assert path.read_bytes() != then
    read(path, IDS)
    assert path.read_bytes() == then


def test_an_unfinished_header_is_written_again(path):
    path.write_bytes(b"i,j,simi")
    assert read(path) == []
    assert path.read_text() == HEADER


class FullDisk:
    """A file on a disk that takes some more bytes and then no more."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        if self.room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self.file.write(data[: self.room])
        self.room -= taken
        return taken

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_full_disk_leaves_the_file_as_it_was(path):
    before = write(path, SOME[:1])
    with opened(path) as file:
        plain, file._file = file._file, FullDisk(file._file, room=10)
        with pytest.raises(OSError, match="No space"):
            file.add(SOME[1])
        assert file.answers == SOME[:1]
        assert path.read_bytes() == before
        file._file = plain
        file.add(SOME[1])
    assert read(path) == SOME[:2]


def test_rows_are_found_by_name_when_their_order_has_changed(path):
    write(path)
    turned = IDS[::-1]
    expected = [Answer((2, 3), True), Answer((1, 2), False, 0.25), Answer((0, 3), None)]
    assert read(path, turned) == expected
    # Row numbers, which `seraph fit` may go by, are those of today.
    assert path.read_text().splitlines()[1].startswith('2,3,1,"b,c",a')
    assert read(path, turned) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("name,height\na,1\n", "starts with 'name,height'"),
        ("i,j,similar,id_i,test_weight,content,when\n0,3,1,a,,,\n", "starts with 'i,j,similar,id"),
        ("no header at all", "has no header"),
        (b"\xff\xfe\n", "cannot be read"),
        (HEADER + "0,1,1,a,nobody,,,\n", "1 of 1"),
        (HEADER + "0,3,1,a,nobody,,,\n0,3", "1 of 1"),
        (HEADER + "0,0,1,a,a,,,\n", "bad row 0"),
        (HEADER + '0,1,1,a,"b\n', "cannot be read"),
        (HEADER + "0,1,maybe,a,naïve 4,,,\n", "'maybe'"),
        (HEADER + "0,1,2,a,naïve 4,,,\n", "'2' is neither 1 or yes, 0 or no, nor empty"),
        (HEADER + "0,3,1,a,naïve 4,,,now,more\n", r"bad row 0 \(9 cells instead of 8\)"),
        (HEADER + "0,3,1,a,naïve 4\n", r"bad row 0 \(5 cells instead of 8\)"),
        (HEADER + "0,3,1,a,naïve 4,nan,,\n", "'nan' is not a positive number"),
        (HEADER + "0,3,1,a,naïve 4,-1,,\n", "'-1' is not a positive number"),
        (HEADER + "0,3,1,a,naïve 4,inf,,\n0,", "'inf' is not a positive number"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(path, content, said):
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read(path)
    assert path.read_bytes() == content


def test_only_one_session_at_a_time_writes_to_a_file(path):
    with opened(path) as first:
        first.add(SOME[0])
        with pytest.raises(ValueError, match="is in use by another `seraph ask`"):
            opened(path)
    assert read(path) == SOME[:1]


def test_the_lock_of_windows_is_behind_the_end_of_the_file(path, monkeypatch):
    taken = []

    class Msvcrt:
        LK_NBLCK = 2

        @staticmethod
        def locking(descriptor, mode, size):
            taken.append((os.lseek(descriptor, 0, os.SEEK_CUR), mode, size))

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Msvcrt)
    write(path)
    assert taken == [(1 << 40, 2, 1)]
    assert read(path) == SOME


def test_rows_without_ids_may_be_added_at_the_end_and_neither_move_nor_change(path):
    some = [Answer((0, 1), True), Answer((1, 3), False)]
    tabled(path, CELLS[:4], answers=some, by_id=False)
    before = path.read_bytes()
    assert tabled(path, CELLS, by_id=False) == some
    for cells, n in (([b"new", *CELLS[:4]], 3), ([*CELLS[:3], b"another one"], 1)):
        with pytest.raises(ValueError, match=rf"another table: {n} of the 3 .* in the same order"):
            tabled(path, cells, by_id=False)
        assert path.read_bytes() == before


def test_what_a_spreadsheet_made_of_the_file_is_read_and_mended(path):
    plain = write(path)
    lines = plain.decode().splitlines()
    words = [lines[0], lines[1].replace("0,1,1", "0,1,Yes"), lines[2].replace("1,2,0", "1,2,NO")]
    saved = "\r\n".join([*words, "", lines[3], ",,,,,,,", "", ""])
    path.write_bytes(b"\xef\xbb\xbf" + saved.encode())
    assert read(path) == SOME
    assert path.read_bytes() == plain
    write(path, [Answer((2, 3), True)])
    assert read(path) == [*SOME, Answer((2, 3), True)]


@pytest.mark.parametrize("word", ["TRUE", "yes", " Yes ", "1"])
def test_yes_and_no_are_read_as_people_write_them(path, word):
    path.write_text(f"{HEADER}0,3,{word},a,naïve 4,,,\n")
    assert read(path) == [Answer((0, 3), True)]


def test_the_last_of_several_answers_about_a_pair_counts(path):
    whole = write(path)
    first = whole.splitlines(keepends=True)[1]
    path.write_bytes(whole + first + first.replace(b"0,1,1", b"0,1,0"))
    with opened(path) as file:
        assert file.answers == [*SOME[1:], Answer((0, 1), False)]
        assert file.contradicted == [(0, 1)]
        assert file.undo() == Answer((0, 1), False)
    with opened(path) as file:  # an answer that was repeated is no trouble
        assert file.answers == SOME[1:]
        assert file.contradicted == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_only_its_owner_can_read_the_file(path):
    before = os.umask(0)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        read(path, IDS[::-1])  # which writes it again
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o640)
        read(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640  # as its owner wanted
    finally:
        os.umask(before)


NUMBERS = [str(k) for k in range(8)]
CELLS = [f"cells of {k}".encode() for k in range(8)]


def tabled(path, cells, ids=NUMBERS, answers=(), *, by_id=True):
    """Open a file of answers about a table; return its answers."""
    contents = [digest(row) for row in cells].__getitem__
    with AnswerFile(path, ids[: len(cells)], PairFormat(), contents, by_id=by_id) as file:
        for answer in answers:
            file.add(answer)
        return list(file.answers)


def test_answers_about_another_table_with_the_same_ids_are_refused(path):
    some = [Answer((0, 1), True), Answer((2, 3), False), Answer((0, 4), True)]
    tabled(path, CELLS, answers=some)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"about another table: 5 of the 5 rows .* '0' first"):
        tabled(path, [b"another " + cells for cells in CELLS])
    assert path.read_bytes() == before
    # Somebody who knows better removes the digests.
    cut = [",".join(line.split(",")[:6]) for line in before.decode().splitlines()]
    path.write_text("\n".join(cut) + "\n")
    others = [b"another " + cells for cells in CELLS]
    assert tabled(path, others) == some
    with pytest.raises(ValueError, match="about another table"):
        tabled(path, CELLS)


def test_rows_with_ids_may_be_added_and_moved_and_a_few_may_change(path):
    some = [Answer((0, 1), True), Answer((2, 3), False)]
    tabled(path, CELLS[:4], answers=some)
    assert tabled(path, CELLS) == some
    moved = [Answer((6, 7), True), Answer((4, 5), False)]
    assert tabled(path, CELLS[::-1], NUMBERS[::-1]) == moved
    assert tabled(path, [b"corrected", *CELLS[1:]]) == some
    # What has changed becomes the new state, so that a table may change bit by bit.
    assert tabled(path, [b"corrected", b"as well", *CELLS[2:]]) == some
