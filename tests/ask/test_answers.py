"""Every answer is in the file at once, and nothing that was in it is lost."""

import errno
import os
import sys

import pytest

from seraph._apps.ask._answers import (
    Answer,
    AnswerFile,
    ClassFormat,
    PairFormat,
    digests,
)

IDS = ["a", "b,c", 'd"e', "naïve 4"]
SOME = [Answer((0, 1), True), Answer((1, 2), False, 0.25), Answer((0, 3), None)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.csv"


def write(path, answers=SOME, ids=IDS, form=None):
    with AnswerFile(path, ids, form or PairFormat()) as file:
        for answer in answers:
            file.add(answer)
    return path.read_bytes()


def read(path, ids=IDS, form=None):
    with AnswerFile(path, ids, form or PairFormat()) as file:
        return list(file.answers)


def test_what_is_written_is_read_again(path):
    write(path)
    assert read(path) == SOME


def test_classes_are_read_again(path):
    some = [Answer((3,), "x, y"), Answer((0,), None), Answer((1,), "z", 1.0)]
    write(path, some, form=ClassFormat())
    assert read(path, form=ClassFormat()) == some


def test_an_answer_is_in_the_file_when_add_returns(path):
    with AnswerFile(path, IDS, PairFormat()) as file:
        file.add(SOME[0])
        assert path.read_text().splitlines()[1].startswith('0,1,1,a,"b,c",,,20')


def test_undo_leaves_the_file_as_it_was(path):
    before = write(path, SOME[:2])
    with AnswerFile(path, IDS, PairFormat()) as file:
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
    assert path.read_text() == "i,j,similar,id_i,id_j,test_weight,content,when\n"


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
    with AnswerFile(path, IDS, PairFormat()) as file:
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
        ("i,j,similar,id_i,id_j,test_weight,content,when\n0,1,1,a,nobody,,,\n", "1 of 1"),
        ("i,j,similar,id_i,id_j,test_weight,content,when\n0,0,1,a,a,,,\n", "bad row 0"),
        ('i,j,similar,id_i,id_j,test_weight,content,when\n0,1,1,a,"b\n', "cannot be read"),
        ("i,j,similar,id_i,id_j,test_weight,content,when\n0,1,maybe,a,naïve 4,,,\n", "'maybe'"),
        (
            "i,j,similar,id_i,id_j,test_weight,content,when\n0,1,yes,a,naïve 4,,,\n",
            "'yes' is neither 1, 0 nor empty",
        ),
        (
            "i,j,similar,id_i,id_j,test_weight,content,when\n0,3,1,a,naïve 4,,,now,more\n",
            r"bad row 0 \(9 cells instead of 8\)",
        ),
        (
            "i,j,similar,id_i,id_j,test_weight,content,when\n0,3,1,a,naïve 4\n",
            r"bad row 0 \(5 cells instead of 8\)",
        ),
        (
            "i,j,similar,id_i,id_j,test_weight,content,when\n\n0,3,1,a,naïve 4,,,\n",
            r"bad row 0 \(0 cells instead of 8\)",
        ),
        (
            "i,j,similar,id_i,id_j,test_weight,content,when\n0,3,1,a,naïve 4,nan,,\n",
            "'nan' is not a positive number",
        ),
        (
            "i,j,similar,id_i,id_j,test_weight,content,when\n0,3,1,a,naïve 4,-1,,\n",
            "'-1' is not a positive number",
        ),
        (
            "i,j,similar,id_i,id_j,test_weight,content,when\n0,3,1,a,naïve 4,inf,,\n0,",
            "'inf' is not a positive number",
        ),
        ("i,j,similar,id_i,id_j,test_weight,content,when\n0,3,1,a,nobody,,,\n0,3", "1 of 1"),
        ("no header at all", "has no header"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(path, content, said):
    path.write_text(content)
    with pytest.raises(ValueError, match=said):
        read(path)
    assert path.read_text() == content


def test_a_file_that_is_not_text_is_refused(path):
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(ValueError, match="cannot be read"):
        read(path)


def test_only_one_session_at_a_time_writes_to_a_file(path):
    with AnswerFile(path, IDS, PairFormat()) as first:
        first.add(SOME[0])
        with pytest.raises(ValueError, match="is in use by another `seraph ask`"):
            AnswerFile(path, IDS, PairFormat())
    assert read(path) == SOME[:1]


def test_earlier_answers_are_added_once(path):
    write(path, [Answer((0, 1), False)])
    with AnswerFile(path, IDS, PairFormat()) as file:
        assert file.add_earlier(SOME) == 2
        assert file.add_earlier(SOME) == 0
        assert file.answers == [Answer((0, 1), False), *SOME[1:]]


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


def test_rows_without_ids_are_known_by_their_content(path):
    """An inserted row shifts no answer, and answers about other rows are not taken over."""
    rows = [f"cells of {k}".encode() for k in range(4)]
    numbers = [str(k) for k in range(6)]
    with AnswerFile(path, numbers[:4], PairFormat(), digests(rows)) as file:
        file.add(Answer((0, 1), True))
        file.add(Answer((1, 3), False))
    longer = digests([b"new", b"another", *rows])
    with AnswerFile(path, numbers, PairFormat(), longer) as file:
        assert file.answers == [Answer((2, 3), True), Answer((3, 5), False)]
    assert path.read_text().splitlines()[1].startswith("2,3,1,2,3,,")
    before = path.read_bytes()
    others = digests([*rows[:3], b"another one"])
    with pytest.raises(ValueError, match=r"answers about other rows: 1 of 2 name rows .* line 3"):
        AnswerFile(path, numbers[:4], PairFormat(), others)
    assert path.read_bytes() == before
