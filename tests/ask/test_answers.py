"""Every answer is in the file at once, and nothing that was in it is lost."""

import pytest

from seraph._apps.ask._answers import Answer, AnswerFile
from seraph.tables._answers import digest

IDS = ["a", "b,c", 'd"e', "naïve 4"]
HEADER = "i,j,similar,id_i,id_j,screen,chance,content,when\n"
SOME = [Answer((0, 1), True), Answer((2, 1), False, 4, 0.25), Answer((0, 3), None)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.csv"


def opened(path, ids=IDS, **form):
    return AnswerFile(path, ids, **form)


def write(path, answers=SOME, **form):
    file = opened(path, **form)
    for answer in answers:
        file.add([answer])
    return path.read_bytes()


def read(path, ids=IDS, **form):
    return opened(path, ids, **form).answers


def test_what_is_written_is_read_again(path):
    write(path)
    assert read(path) == SOME
    path.unlink()
    some = [Answer((3,), "x, y"), Answer((0,), None), Answer((1,), "z", 2, 1.0)]
    write(path, some, classes=True)
    assert read(path, classes=True) == some


def test_rows_are_found_by_name_when_their_order_has_changed(path):
    write(path)
    turned = IDS[::-1]
    expected = [Answer((2, 3), True), Answer((1, 2), False, 4, 0.25), Answer((0, 3), None)]
    assert read(path, turned) == expected
    # Row numbers, which `seraph fit` may go by, are those of today.
    assert path.read_text().splitlines()[1].startswith('2,3,1,"b,c",a')
    assert read(path, turned) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("name,height\na,1\n", "starts with 'name,height'"),
        ("no header at all", "starts with 'no header at all'"),
        (b"\xff\xfe\n", "cannot be read"),
        (HEADER + "0,1,1,a,nobody,,,,\n", "1 of 1"),
        (HEADER + '0,1,1,a,"b\n', "cannot be read"),
        (HEADER + "0,1,maybe,a,naïve 4,,,,\n", "'maybe'"),
        (HEADER + "0,3,1,a,naïve 4,2,-1,,\n", "chance '-1' is not from 0 to 1"),
        (HEADER + "0,3,1,a,naïve 4,x,1,,\n", "screen 'x' is not a number"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(path, content, said):
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read(path)
    assert path.read_bytes() == content


def test_what_another_program_wrote_meanwhile_is_never_written_over(path):
    write(path, SOME[:2])
    first, second = opened(path), opened(path)
    first.add([SOME[2]])
    typed = path.read_bytes()
    with pytest.raises(OSError, match="another program has changed it"):
        second.add([Answer((2, 3), True)])
    assert second.answers == SOME[:2]
    assert path.read_bytes() == typed
    path.unlink()  # nothing is there to be lost
    first.add([Answer((2, 3), True)])
    assert read(path) == [*SOME, Answer((2, 3), True)]


def test_what_a_spreadsheet_made_of_the_file_is_read_and_mended(path):
    plain = write(path)
    lines = plain.decode().splitlines()
    words = [lines[0], lines[1].replace("0,1,1", "0,1,Yes"), lines[2].replace("2,1,0", "2,1,NO")]
    saved = "\r\n".join([*words, "", lines[3], ",,,,,,,,", "", ""])
    path.write_bytes(b"\xef\xbb\xbf" + saved.encode())
    assert read(path) == SOME
    assert path.read_bytes() == plain
    write(path, [Answer((2, 3), True)])
    assert read(path) == [*SOME, Answer((2, 3), True)]


def test_an_answer_about_a_pair_replaces_a_different_one_and_confirms_an_equal_one(path):
    whole = write(path)
    first = whole.splitlines(keepends=True)[1]
    path.write_bytes(whole + first + first.replace(b"0,1,1", b"0,1,0"))
    file = opened(path)
    assert file.answers == [*SOME[1:], Answer((0, 1), False, times=3)]
    for value, n_lines, times in ((False, 4, 2), (True, 3, 1), (True, 4, 2)):
        file.add([Answer((0, 1), value)])
        assert len(path.read_text().splitlines()) == 1 + n_lines
        assert file.answers[-1] == Answer((0, 1), value, times=times)


def test_a_screen_is_replaced_where_it_was_and_other_screens_keep_what_they_say(path):
    one = [Answer((0, 1), True, 1, 0.5), Answer((0, 2), False, 1, 0.25)]
    two = [Answer((1, 0), False, 2, 0.5)]
    file = opened(path)
    for screen in (one, two):
        file.add(screen)
    assert read(path) == [*one, *two]  # which contradict each other
    new = [Answer((0, 1), False, 1, 0.5), Answer((0, 2), None, 1, 0.25)]
    file.add(new)
    assert read(path) == [*new, *two] == file.answers


NUMBERS = [str(k) for k in range(8)]
CELLS = [f"cells of {k}".encode() for k in range(8)]
ASKED = [Answer((0, 1), True), Answer((1, 3), False)]
OTHERS = [b"another " + cells for cells in CELLS]
TURNED = [Answer((6, 7), True), Answer((4, 6), False)]


def tabled(path, cells, ids=NUMBERS, answers=(), *, by_id=True):
    """Open a file of answers about a table; return its answers."""
    contents = [digest(row) for row in cells].__getitem__
    file = AnswerFile(path, ids[: len(cells)], contents, by_id=by_id)
    for answer in answers:
        file.add([answer])
    return file.answers


@pytest.mark.parametrize(
    ("by_id", "cells", "ids", "found"),
    [
        (False, CELLS, NUMBERS, ASKED),  # rows were added at the end
        (False, [b"new", *CELLS[:4]], NUMBERS, "another table: 3 of the 3 .* in the same order"),
        (False, [*CELLS[:3], b"another"], NUMBERS, "another table: 1 of the 3 .* same order"),
        (True, CELLS[::-1], NUMBERS[::-1], TURNED),
        (True, [b"corrected", *CELLS[1:]], NUMBERS, ASKED),
        (True, OTHERS, NUMBERS, "about another table: 3 of the 3 rows .* '0' first"),
    ],
)
def test_rows_are_known_by_their_ids_and_their_content(path, by_id, cells, ids, found):
    tabled(path, CELLS[:4], answers=ASKED, by_id=by_id)
    before = path.read_bytes()
    if found in (ASKED, TURNED):
        assert tabled(path, cells, ids, by_id=by_id) == found
        return
    with pytest.raises(ValueError, match=found):
        tabled(path, cells, ids, by_id=by_id)
    assert path.read_bytes() == before


def test_a_table_may_change_bit_by_bit_and_digests_may_be_removed(path):
    tabled(path, CELLS, answers=ASKED)
    for cells in ([b"corrected", *CELLS[1:]], [b"corrected", b"as well", *CELLS[2:]]):
        assert tabled(path, cells) == ASKED
    cut = [",".join(line.split(",")[:5]) for line in path.read_text().splitlines()]
    path.write_text("\n".join(cut) + "\n")
    assert tabled(path, OTHERS) == ASKED
    with pytest.raises(ValueError, match="about another table"):
        tabled(path, CELLS)
