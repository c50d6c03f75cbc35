"""Tables: cells are read as written, and errors name the row or line."""

import gzip
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from seraph._apps.cli._tables import (
    check_output,
    csv_bytes,
    labels_of,
    read_pairs,
    read_table,
    write_table,
)
from seraph._apps.cli._tables._csv import as_utf8, parse_csv, separator_of


def cells(data, separator=None):
    text = as_utf8(data, "utf-8")
    columns = parse_csv(text, separator or separator_of(text))
    return {name: column.to_pylist() for name, column in columns.items()}


def file(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Text tables


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,x\n2,y\n",
        b"a,b\n1,x\n2,y",  # no line end at the end
        b"\xef\xbb\xbfa,b\n1,x\n2,y\n",  # as Excel begins its UTF-8
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"a,b\r1,x\r2,y\r",
        b"a;b\n1;x\n2;y\n",
        b"a\tb\n1\tx\n2\ty\n",
        b"a|b\n1|x\n2|y\n",
        b'"a","b"\n"1","x"\n"2","y"\n',
        b" a , b \n1,x\n2,y\n",
        b"\n\na,b\n\n1,x\n2,y\n\n",
    ],
)
def test_the_ways_to_write_a_table_are_one_table(data):
    assert cells(data) == {"a": ["1", "2"], "b": ["x", "y"]}


def test_cells_keep_separators_quotes_and_line_ends_within_quotation_marks():
    assert cells(b'a,b\n"1,5","say ""no""\nor not"\n') == {
        "a": ["1,5"],
        "b": ['say "no"\nor not'],
    }


def test_the_separator_is_the_one_on_which_the_first_two_rows_agree():
    assert cells(b'"fat, total, g";sugar\n1;2\n') == {"fat, total, g": ["1"], "sugar": ["2"]}
    assert cells(b"fat, total, g;sugar\n1;2\n") == {"fat, total, g": ["1"], "sugar": ["2"]}
    assert list(cells(b"only\n1\n")) == ["only"]


def test_a_tsv_may_hold_commas():
    assert cells(b"a,b\tc\n1,2\t3\n", separator="\t") == {"a,b": ["1,2"], "c": ["3"]}


def test_a_cell_may_be_longer_than_a_block_and_than_pythons_reader_allows():
    long = b"x" * 3_000_000
    assert cells(b"a,b\n1," + long + b"\n")["b"] == [long.decode()]


def test_leading_zeros_and_whole_numbers_beyond_float_survive_as_text():
    assert cells(b"id\n007\n99999999999999999999999\n")["id"] == ["007", "9" * 23]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 cells, but the header has 2"),
        (b"a,b\n1,2,3\n", "line 2 has 3 cells, but the header has 2"),
        (b'a,b\n1,"x\ny"\n\n2\n', "line 5 has 1 cells"),
        (b'a,b\n1,"2\n3,4\n', "quotation mark is opened and never closed"),
        (b"a,a\n1,2\n", "two columns are called 'a'"),
        (b"a, a\n1,2\n", "two columns are called 'a'"),
        (b"14.2,1.7\n13.1,2.0\n", r"first line holds numbers \(14.2, ...\)"),
        (b"a,b\nf\xe9e,1\n", "line 2 is not UTF-8 .byte 0xe9."),
        (b"a,b\n\0,1\n", "NUL"),
        (b"x" * 200_000 + b"\n1\n", "header cannot be read"),
        (b"x" * 20_000 + b"\n1\n", "too long for a header"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(data, message):
    with pytest.raises(ValueError, match=message):
        cells(data)


def test_numbers_may_be_the_names_of_columns_as_pandas_writes_them():
    frame = pd.DataFrame(np.eye(3))
    assert list(cells(frame.to_csv(index=False).encode())) == ["0", "1", "2"]


# Numbers


def test_true_and_false_are_one_and_zero(tmp_path):
    path = file(tmp_path, "t.csv", "a,b\nTrue,1\nfalse,2\n")
    np.testing.assert_array_equal(read_table(path).points(), [[1, 1], [0, 2]])


def test_faults_name_their_columns_with_a_row_and_the_way_out(tmp_path):
    path = file(tmp_path, "t.csv", "ok,color,od 280\n1,red,x\n2,blue,3\n")
    with pytest.raises(ValueError, match="no numbers in columns") as refusal:
        read_table(path).points()
    assert str(path) in str(refusal.value)
    assert "'color' ('red' in line 2 and 1 more), 'od 280' ('x' in line 2)" in str(refusal.value)


def test_missing_values_are_counted_by_column(tmp_path):
    path = file(tmp_path, "t.csv", "a,b,c\n1,2,3\n,NA,3\nnan,2,3\n")
    with pytest.raises(
        ValueError, match=r"missing values in columns 'a' .2, the first in line 3.,"
    ):
        read_table(path).points()
    assert read_table(path).points(["c"]).shape == (3, 1)


@pytest.mark.parametrize(
    "text", ["inf", "-Infinity", "1e999", "1e200", "9" * 10**6], ids=lambda text: text[:9]
)
def test_numbers_whose_squares_are_infinite_are_refused(text, tmp_path):
    path = file(tmp_path, "t.csv", f"a,b\n1,2\n1,{text}\n")
    with pytest.raises(ValueError, match="infinite or too large values in column 'b'"):
        read_table(path).points()


def test_an_error_names_a_few_columns_and_counts_the_rest(tmp_path):
    names = [f"c{k}" for k in range(40)]
    path = file(tmp_path, "t.csv", ",".join(names) + "\n" + ",".join(["x"] * 40) + "\n")
    with pytest.raises(ValueError, match=r"'c4' .* and 35 more") as refusal:
        read_table(path).points()
    assert "'c5'" not in str(refusal.value)


# Labels


def test_minus_one_and_one_alone_are_one_class_which_a_note_says(tmp_path):
    table = read_table(file(tmp_path, "t.csv", "x,kind\n1,1\n2,-1\n3,1.0\n4,\n"))
    with pytest.warns(UserWarning, match="name the classes 0 and 1"):
        assert labels_of(table, "kind").tolist() == ["1", None, "1.0", None]


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_minus_one_lost_in_an_unsigned_type_is_noticed(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    y = np.array([0, 1, 255], dtype=np.uint8)
    if kind == "npz":
        np.savez(path, X=np.arange(3.0)[:, np.newaxis], y=y)
    else:
        parquet.write_table(pa.table({"x": [1.0, 2.0, 3.0], "y": y}), path)
    table = read_table(path)
    with pytest.warns(UserWarning, match="uint8, which cannot hold -1.*add --unlabeled 255"):
        assert labels_of(table, "y").tolist() == ["0", "1", "255"]
    assert labels_of(table, "y", ["255"]).tolist() == ["0", "1", None]


def test_many_words_mean_unlabeled(tmp_path):
    blanks = ["", "-1", "-1.0", "NA", "NaN", "nan", "null", "<NA>", "  "]
    lines = [f"2,{blank}\n" for blank in blanks]
    path = file(tmp_path, "t.csv", "".join(["a,kind\n1,x\n", *lines]))
    assert labels_of(read_table(path), "kind").tolist() == ["x", *[None] * len(blanks)]


def test_a_class_may_be_called_none_or_zero(tmp_path):
    path = file(tmp_path, "t.csv", "a,kind\n1,none\n2,0\n3,None\n")
    with pytest.warns(UserWarning, match="1 row has the label 'none'.*--unlabeled none"):  # noqa: SIM117
        with pytest.warns(UserWarning, match="1 row has the label 'None'"):
            assert labels_of(read_table(path), "kind").tolist() == ["none", "0", "None"]


def test_labels_are_the_same_text_from_every_kind_of_file(tmp_path):
    pd.DataFrame({"a": [1.0, 2, 3], "k": [1.0, np.nan, 2]}).to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[1, -1, 2])
    expected = ["1", None, "2"]
    assert labels_of(read_table(tmp_path / "t.parquet"), "k").tolist() == expected
    assert labels_of(read_table(tmp_path / "t.npz"), None).tolist() == expected


def test_an_unknown_column_comes_with_the_nearest_name(tmp_path):
    table = read_table(file(tmp_path, "t.csv", "alcohol,Class\n1,x\n"))
    with pytest.raises(ValueError, match=r"no column 'class'. Did you mean 'Class'\?"):
        labels_of(table, "class")
    with pytest.raises(ValueError, match="It has 'alcohol', 'Class'"):
        labels_of(table, "xyz")


# Other files


def test_parquet_columns_of_every_numeric_type_are_features(tmp_path):
    table = pa.table(
        {
            "int": pa.array([1, 2**60], pa.int64()),
            "small": pa.array([1, 2], pa.uint8()),
            "float": pa.array([0.5, 1.5], pa.float32()),
            "truth": pa.array([True, False]),
            "money": pa.array(["1.25", "2.50"]).cast(pa.decimal128(5, 2)),
            "category": pa.array(["1", "2"]).dictionary_encode(),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    points = read_table(tmp_path / "t.parquet").points()
    expected = [[1, 1, 0.5, 1, 1.25, 1], [2.0**60, 2, 1.5, 0, 2.5, 2]]
    np.testing.assert_array_equal(points, expected)
    assert points.to_numpy().dtype == np.float64


@pytest.mark.parametrize(
    ("column", "kind"), [(pd.Categorical(["x", "y"]), "'x' in row 0"), ([[1.0], [2.0]], "list")]
)
def test_parquet_columns_of_other_types_are_refused_by_name(column, kind, tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "odd": column}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=f"no numbers in column 'odd' .{kind}"):
        read_table(tmp_path / "t.parquet").points()


def test_parquet_takes_no_columns_from_a_nameless_index_or_the_names_of_folders(tmp_path):
    folder = tmp_path / "kind=x"
    folder.mkdir()
    pd.DataFrame({"a": [1.0, 2.0]}, index=[10, 20]).to_parquet(folder / "t.parquet")
    assert read_table(folder / "t.parquet").names == ("a",)


def test_arrays_keep_float32_and_give_float64_otherwise(tmp_path):
    for kind, expected in (("float32", "float32"), ("int16", "float64"), (">f8", "float64")):
        np.save(tmp_path / "t.npy", np.array([[1, 2], [3, 4]], dtype=kind))
        points = read_table(tmp_path / "t.npy").points()
        assert points.dtype == expected
        np.testing.assert_array_equal(points, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"data": np.eye(2)}, "it holds data: the features must be an array X"),
        ({"X": np.eye(2), "y": [1, 2, 3]}, "y must be one label for each of the 2 rows"),
        ({"X": np.eye(2)[0]}, "two dimensions.*shape .2,"),
        ({"X": np.array([["a"]])}, "must be numbers"),
        ({"X": np.empty((3, 0))}, r"shape \(3, 0\)"),
        ({"X": np.empty((0, 3))}, "no rows"),
    ],
)
def test_an_npz_file_holds_x_and_perhaps_y(arrays, message, tmp_path):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "t.npz")


def test_arrays_with_holes_are_refused_by_column(tmp_path):
    X = np.ones((4, 3))
    X[1:3, 2] = np.nan
    np.save(tmp_path / "t.npy", X)
    with pytest.raises(ValueError, match=r"missing values in column '2' .2, the first in row 1"):
        read_table(tmp_path / "t.npy").points()
    np.save(tmp_path / "t.npy", np.array([[1, 1e30]], dtype=np.float32))
    with pytest.raises(ValueError, match="too large values in column '1'"):
        read_table(tmp_path / "t.npy").points()


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[print]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"cannot be read as an .npy file"):
        read_table(tmp_path / "t.npy")


def test_a_header_that_promises_too_much_asks_for_no_memory(tmp_path):
    np.save(tmp_path / "t.npy", np.ones((2, 2)))
    data = (tmp_path / "t.npy").read_bytes()
    path = file(tmp_path, "t.npy", data.replace(b"(2, 2), }        ", b"(10**9, 2), }    "))
    with pytest.raises(ValueError, match=r"cannot be read as an .npy"):
        read_table(path)
    path = file(tmp_path, "t.npy", data.replace(b"(2, 2), }          ", b"(99999999999, 2), }"))
    with pytest.raises(ValueError, match=r"cannot be read as an .npy file .*file size"):
        read_table(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.docx", "a\n1\n", r"t.docx: the name must end in .csv, .tsv.* or .npz"),
        ("t.xlsx", "a\n1\n", r"t.xlsx: it cannot be read as an .xlsx file"),
        ("t.csv.gz", gzip.compress(b"a\n1\n")[:-9], "damaged or cut short"),
        ("t.csv.gz", "a\n1\n", "damaged"),
        ("t.csv", "a,b", "no rows"),
    ],
)
def test_the_suffix_decides_the_kind_of_a_file(name, content, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_table(file(tmp_path, name, content))


def test_a_folder_and_an_absent_file_are_no_tables(tmp_path):
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ValueError, match="folder"):
        read_table(tmp_path / "d.csv")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "absent.csv")


# Pairs


@pytest.mark.parametrize(
    ("yes", "no"),
    [("1", "0"), ("+1", "-1"), ("true", "FALSE"), ("Yes", "no"), ("1.0", "0.0"), (" 1 ", "-1.0")],
)
def test_answers_come_in_many_words(yes, no, tmp_path):
    text = f"note,j,i,similar\nx,1,0,{yes}\ny,2,0,\nz,3.0,2,{no}\n"
    pairs, similar = read_pairs(read_table(file(tmp_path, "p.csv", text)), 4)
    assert pairs.tolist() == [[0, 1], [2, 3]]
    assert similar.tolist() == [True, False]


def test_an_empty_answer_may_be_written_as_other_programs_do(tmp_path):
    text = "i,j,similar\n0,1,yes\n0,2,\n0,3,NA\n1,2,NaN\n1,3,NULL\n2,3,<NA>\n"
    pairs, _ = read_pairs(read_table(file(tmp_path, "p.csv", text)), 4)
    assert pairs.tolist() == [[0, 1]]


def test_answers_may_be_the_truth_values_of_a_parquet_file(tmp_path):
    frame = pd.DataFrame({"i": [0, 1, 2], "j": [1, 2, 3], "similar": [True, None, False]})
    frame.to_parquet(tmp_path / "p.parquet")
    pairs, similar = read_pairs(read_table(tmp_path / "p.parquet"), 4)
    assert pairs.tolist() == [[0, 1], [2, 3]]
    assert similar.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i,j,similar\n0,1,maybe\n", "line 2: similar is 'maybe'"),
        ("i,j,similar\n0,1,1\n0,9,1\n", "line 3: j is 9, but the data only have rows 0 to 3"),
        ("i,j,similar\n-1,1,1\n", "line 2: i is '-1', which is not a row number from 0 to 3"),
        ("i,j,similar\n0.5,1,1\n", "not a row number"),
        (f"i,j,similar\n{'9' * 40},1,1\n", "not a row number"),
        ("i,j,same\n0,1,1\n", "no column 'similar'"),
    ],
)
def test_impossible_pairs_are_refused_with_their_row(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_pairs(read_table(file(tmp_path, "p.csv", text)), 4)


# Writing


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_what_is_written_is_read_again_to_the_last_digit(name, tmp_path, rng):
    values = rng.normal(size=20) * 10.0 ** rng.integers(-300, 100, size=20)
    ids = pa.array([f'row "{k}", é\n' for k in range(19)] + [None])
    write_table(tmp_path / name, {"id": ids, "x": values})
    table = read_table(tmp_path / name)
    np.testing.assert_array_equal(table.points(["x"])["x"], values)
    assert [cell or None for cell in table.cells("id").to_pylist()] == ids.to_pylist()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_npy_file_holds_the_columns_side_by_side(tmp_path):
    write_table(tmp_path / "t.npy", {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])})
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), [[1, 3], [2, 4]])


def test_whole_numbers_stay_whole_beside_empty_cells():
    assert csv_bytes({"id": pa.chunked_array([[1, None]])}) == b'id\n1\n""\n'


def test_the_same_table_is_the_same_bytes_compressed_or_not(tmp_path):
    first = write_table(tmp_path / "a.csv.gz", {"x": [1.0]}).read_bytes()
    second = write_table(tmp_path / "b.csv.gz", {"x": [1.0]}).read_bytes()
    assert first == second


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    table = file(tmp_path, "t.csv", "a\n1\n")
    inputs = [tmp_path / "absent", None, table]
    (tmp_path / "folder.csv").mkdir()
    for name, message in (
        ("absent/z.csv", "no folder"),
        ("z.docx", r"must end in .csv"),
        ("t.csv", "is an input and would be replaced"),
        ("folder.csv", "is a folder: name a file in it"),
    ):
        with pytest.raises(ValueError, match=message):
            check_output(tmp_path / name, inputs=inputs)
    check_output(tmp_path / "z.csv", inputs=inputs)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_into_a_folder_that_is_gone_is_refused_before_any_work(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "gone" / "z.csv")
    with pytest.raises(ValueError, match=r"no folder .*gone"):
        check_output(tmp_path / "link.csv")
