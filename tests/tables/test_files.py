"""Tables in files: cells are read as written, errors name the line, and types come back."""

import io
import re
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from seraph import TablePreparer
from seraph.tables._answers import labels_of
from seraph.tables._files import cells_like, check_output, csv_bytes, read_table, table_bytes


def write_table(path, columns):
    path.write_bytes(table_bytes(path, columns))
    return path


def xlsx(rows):
    """A spreadsheet without the row and column of names that pandas adds."""
    out = io.BytesIO()
    pd.DataFrame(rows).to_excel(out, header=False, index=False, engine="xlsxwriter")
    return out.getvalue()


def ods(rows):
    """A spreadsheet as LibreOffice writes it, but for its styles."""

    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        kind = 'string"' if isinstance(value, str) else f'float" office:value="{value}"'
        text = f"<text:p>{value}</text:p>"
        return f'<table:table-cell office:value-type="{kind}>{text}</table:table-cell>'

    lines = "".join(f"<table:table-row>{''.join(map(cell, r))}</table:table-row>" for r in rows)
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{space}manifest:1.0"/>')
        archive.writestr(
            "content.xml",
            f'<office:document-content xmlns:office="{space}office:1.0" '
            f'xmlns:table="{space}table:1.0" xmlns:text="{space}text:1.0"><office:body>'
            f'<office:spreadsheet><table:table table:name="S">{lines}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return out.getvalue()


@pytest.fixture
def table(tmp_path):
    """Write a file of some content, and read it."""

    def read(content, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return read


def cells(table):
    return {name: table.cells(name).to_pylist() for name in table.names}


# Text tables


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,x\n2,y\n",
        b"a,b\n1,x\n2,y",  # no line end at the end
        b"\xef\xbb\xbfa,b\n1,x\n2,y\n",  # as Excel begins its UTF-8
        "a,b\n1,x\n2,y\n".encode("utf-16"),
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"a;b\n1;x\n2;y\n",
        b"a\tb\n1\tx\n2\ty\n",
        b"a|b\n1|x\n2|y\n",
        b'"a","b"\n"1","x"\n"2","y"\n',
        b" a , b \n1,x\n2,y\n",
        b"\n\na,b\n\n1,x\n2,y\n\n",
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_the_ways_to_write_a_table_are_one_table(data, name, table):
    assert cells(table(data, name)) == {"a": ["1", "2"], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b'a,b\n"1,5","say ""no""\nor not"\n', "t.csv",
         {"a": ["1,5"], "b": ['say "no"\nor not']}),
        (b'"fat, g";sugar\n1;2\n', "t.csv", {"fat, g": ["1"], "sugar": ["2"]}),
        (b"fat, g;sugar\n1;2\n", "t.csv", {"fat, g": ["1"], "sugar": ["2"]}),
        (b"only\n1\n", "t.csv", {"only": ["1"]}),
        (b"a,b\tc\n1,2\t3\n", "t.tsv", {"a,b": ["1,2"], "c": ["3"]}),
        (b"id\n007\n99999999999999999999999\n", "t.csv", {"id": ["007", "9" * 23]}),
        (b"0,1\n5,6\n", "t.csv", {"0": ["5"], "1": ["6"]}),  # as pandas names columns
        (b"a,\n1,2\n", "t.csv", {"a": ["1"], "unnamed_2": ["2"]}),
        (b"\nonly\n1\n\n3\n\n", "t.csv", {"only": ["1", "", "3"]}),
        ('{"a": "x\u2028y"}\n'.encode(), "t.jsonl", {"a": ["x\u2028y"]}),
        (b'\xef\xbb\xbf{"a": 1}\n', "t.jsonl", {"a": [1]}),
        (xlsx([["a", None], [1, 2], ["x", 3]]), "t.xlsx", {"a": ["1", "x"], "unnamed_2": [2, 3]}),
    ],
)  # fmt: skip
def test_cells_are_read_as_they_are_written(data, name, expected, table):
    assert cells(table(data, name)) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 cells, but the header has 2"),
        (b"a,b\n1,2,3\n", "line 2 has 3 cells, but the header has 2"),
        (b'a,b\n1,"x\ny"\n\n2\n', "line 5 has 1 cells"),
        (b'a,b\n1,"2\n3,4\n', "quotation mark is opened and never closed"),
        (b"a, a\n1,2\n", "two columns are called 'a'"),
        (b"14.2,1.7\n13.1,2.0\n", r"first line holds numbers \(14.2, ...\)"),
        (b"a,b\n\0,1\n", "NUL.*another format"),
        ("a,b\n1,2\n".encode("utf-16-le"), "UTF-16 without a mark.*--encoding utf-16-le"),
        ("a,b\n1,2\n".encode("utf-16-be"), "--encoding utf-16-be"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(data, message, table):
    with pytest.raises(ValueError, match=message):
        table(data)


@pytest.mark.parametrize(
    ("data", "name", "places"),
    [
        (b"a,b\n1,x\n2,y\n", "t.csv", ["line 2", "line 3"]),
        (b'\na,b\n1,"x\ny"\n\n2,y\n', "t.csv", ["line 3", "line 6"]),
        (b"\na\n\n1\n", "t.csv", ["line 3", "line 4"]),
        (b'\n{"a": 1}\n\n{"a": 2}\n', "t.jsonl", ["line 2", "line 4"]),
        (xlsx([["a"], [None], [1], [2]]), "t.xlsx", ["line 3", "line 4"]),
        (pd.DataFrame({"a": [1, 2]}).to_parquet(), "t.parquet", ["row 0", "row 1"]),
    ],
)
def test_rows_are_named_by_the_lines_of_their_file(data, name, places, table):
    read = table(data, name)
    assert [read.place(row) for row in range(2)] == places
    assert read.take(np.array([1])).place(0) == places[1].replace("row 1", "row 0")


def test_the_separator_may_be_named(table):
    text = "a,b;c\td\n1,5;2\t3\n"
    assert cells(table(text, separator=";")) == {"a,b": ["1,5"], "c\td": ["2\t3"]}
    assert cells(table(text, separator="tab")) == {"a,b;c": ["1,5;2"], "d": ["3"]}
    with pytest.raises(ValueError, match=": --separator ;;: it must"):
        table("a,b\n", separator=";;")


@pytest.mark.parametrize(
    ("head", "rows", "said", "value"),
    [
        ("a;b", "1.234;x\n2.345;y\n", ["'1.234' in line 2 is read as 1.234; if the point"], 1.234),
        ("a;b", "1.234;0.5\n2.345;1.5\n", [], 1.234),  # another column has points
        ("a;b", "1.234;x\n2345;y\n", [], 1.234),  # 2345 has none between thousands
        ("a,b", "1.234,x\n2.345,y\n", [], 1.234),
        ("a;b", "1,234;0.5\n2,345;1.5\n", ["is read as thousands"], 1234),
    ],
)
def test_a_point_that_may_separate_thousands_is_said(head, rows, said, value, table):
    read = table(f"{head}\n" + 6 * rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert TablePreparer(scale="none", keep=["a"]).fit_transform(read)[0, 0] == value
    assert [words in str(one.message) for words, one in zip(said, caught, strict=True)] == (
        [True] * len(said)
    )


def test_letters_that_are_not_utf8_are_read_like_windows_and_that_is_said(table):
    with pytest.warns(UserWarning, match=r"line 2 is not UTF-8 \(byte 0xe9\): read as cp1252"):
        assert cells(table(b"a\nf\xe9e\n")) == {"a": ["fée"]}
    assert cells(table(b"a\nf\xe9e\n", other_encoding="latin-1")) == {"a": ["fée"]}
    with pytest.raises(ValueError, match="line 2 is not ascii"):
        table(b"a\nf\xe9e\n", encoding="ascii")


# Other formats

FRAME = pd.DataFrame(
    {"name": ["a", "b", "c"], "x": [1.5, 2.0, np.nan], "n": [1, 2, 3], "kind": ["u", None, "v"]}
)


def files():
    rows = [list(FRAME), *FRAME.astype(object).where(FRAME.notna(), None).to_numpy().tolist()]
    return {
        "t.csv": FRAME.to_csv(index=False).encode(),
        "t.jsonl": FRAME.to_json(orient="records", lines=True).encode(),
        "t.parquet": FRAME.to_parquet(),
        "t.xlsx": xlsx(rows),
        "t.ods": ods(rows),
    }


@pytest.mark.parametrize("name", files())
def test_a_table_is_the_same_in_every_format(name, table):
    read = table(files()[name], name)
    assert set(read.names) == set(FRAME)
    assert labels_of(read, "kind").tolist() == ["u", None, "v"]
    assert read.cells("name").to_pylist() == ["a", "b", "c"]
    assert [str(cell) for cell in read.cells("n").to_pylist()] == ["1", "2", "3"]
    np.testing.assert_array_equal(read.points(["x"])["x"], [1.5, 2, np.nan])


@pytest.mark.parametrize("name", [name for name in files() if name != "t.csv"])
def test_a_damaged_file_is_refused(name, table):
    content = files()[name]
    for damaged in (content[: len(content) // 2], b"", b"\0" * 100):
        with pytest.raises(ValueError, match=name):
            table(damaged, name)


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.xlsx", xlsx([["a", "b"]]), "no rows"),
        ("t.npz", npz(data=np.eye(2)), "it holds data: the features must be an array X"),
        ("t.npz", npz(X=np.eye(2), y=[1, 2, 3]), "y must be one label for each of the 2 rows"),
        ("t.npz", npz(X=np.eye(2)[0]), "two dimensions"),
        ("t.npz", npz(X=np.array([["a"]])), "must be numbers"),
        ("t.npz", npz(X=np.empty((0, 3))), "no rows"),
        ("t.npz", npz(X=np.array([[print]], dtype=object)), "cannot be read"),  # never unpickled
        ("t.docx", "a\n1\n", r"t.docx: the name must end in .csv, .tsv.* or .npz"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(name, content, message, table):
    with pytest.raises(ValueError, match=message):
        table(content, name)


# Labels


def test_labels_are_the_same_text_from_every_kind_of_file(tmp_path, table):
    pd.DataFrame({"a": [1.0, 2, 3], "k": [1.0, np.nan, 2]}).to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[1, -1, 2])
    money = pa.table({"k": pa.array(["1.00", None, "2.00"]).cast(pa.decimal128(5, 2))})
    pq.write_table(money, tmp_path / "d.parquet")
    for name, label in (("t.parquet", "k"), ("t.npz", None), ("d.parquet", "k")):
        assert labels_of(read_table(tmp_path / name), label).tolist() == ["1", None, "2"]
    blanks = ["", "-1", "-1.0", "NA", "NaN", "nan", "null", "<NA>", "  "]
    read = table("".join(["a,kind\n1,x\n", *(f"2,{blank}\n" for blank in blanks)]))
    with pytest.warns(UserWarning, match=r"7 rows have '-1' or '-1\.0' or .* read as no label"):
        assert labels_of(read, "kind").tolist() == ["x", *[None] * len(blanks)]


@pytest.mark.parametrize(
    ("kinds", "unlabeled", "labels", "said"),
    [
        (["Cat", "cat ", "CAT", "dog", "Cat"], None, ["Cat", "cat", "CAT", "dog", "Cat"],
         [r"'Cat' \(2\), 'cat' \(1\), 'CAT' \(1\) are diff"]),
        (["none", "0", "Missing"], None, ["none", "0", None],
         ["1 row has 'Missing' as kind, .* read as no label",
          "1 row has the label 'none'.*--unlabeled none"]),
        (["none", "0", "Missing"], [""], ["none", "0", "Missing"], []),
        (["+", "-"], None, ["+", "-"], ["'-', which counts as a class"]),
    ],
)  # fmt: skip
def test_labels_that_may_mean_something_else_are_named(kinds, unlabeled, labels, said, table):
    read = table("a,kind\n" + "".join(f"1,{kind}\n" for kind in kinds))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert labels_of(read, "kind", unlabeled).tolist() == labels
    assert len(caught) == len(said)
    assert all(
        re.search(*pair) for pair in zip(said, (str(c.message) for c in caught), strict=True)
    )


# Writing


ODD = ["=1+1", "http://a.b/c", "a\rb", 'say "no"\nor  not', "{=A1}", "x\u2028y", "<&>", "-", ";"]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.jsonl", "t.parquet", "t.xlsx"])
def test_odd_text_long_ids_and_all_digits_are_read_again(name, tmp_path, rng):
    # Older releases of calamine read a lone \r as _x000D_.
    odd = [text.replace("\r", "\n") for text in ODD] if name == "t.xlsx" else ODD
    ids = [9007199254740993000 + k for k in range(len(odd))]
    values = rng.normal(size=len(odd)) * 10.0 ** rng.integers(-200, 100, size=len(odd))
    path = write_table(tmp_path / name, {"text": [*odd[:-1], None], "id": ids, "x": values})
    read = read_table(path)
    digits = 1e-15 if name == "t.xlsx" else 0.0  # a spreadsheet keeps 16 of them
    np.testing.assert_allclose(read.points(["x"])["x"], values, rtol=digits)
    assert [cell or None for cell in read.cells("text").to_pylist()] == [*odd[:-1], None]
    assert [str(cell) for cell in read.cells("id").to_pylist()] == [*map(str, ids)]
    if name == "t.xlsx":
        content = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in content
        assert b"<hyperlink" not in content
    elif name in ("t.csv", "t.tsv", "t.txt"):
        frame = pd.read_csv(path, sep="\t" if name == "t.tsv" else ",", dtype=str)
        assert frame["text"].tolist()[:-1] == ODD[:-1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", 'a\n1\n""\n3\n'),  # an empty cell of the only column stays a row
        ("t.csv", 'a,b\n1,"x\r\ny"\n2,z\n3,z\n'),  # one cell with another line end
        ("t.csv", "a;b\r\n1,5;x\r\n"),
        ("t.csv", " a ,,when\n1,2,2026-01-31T12:00:00+05:00\n"),
        (
            "t.jsonl",
            '{"t": true, "when": "2026-01-31T12:00:00+05:00"}\n{"t": null, "when": null}\n',
        ),
        ("t.jsonl", '{"a": 1}\n{"a": "x"}\n{"a": 2.5}\n{"a": null}\n{"a": 1152921504606846977}\n'),
    ],
)
def test_a_table_that_is_read_and_written_again_is_the_same_file(name, text, table):
    read = table(text, name)
    assert table_bytes(Path(name), read.columns, read.written) == text.encode()


def test_cells_of_mixed_columns_are_written_as_they_were(tmp_path, table):
    read = table(xlsx([["a", "b"], [1, 0], ["x", 1], [2.5, 2]]), "t.xlsx")
    some = read.take(np.array([1, 0]))
    for part, expected in ((read, [1, "x", 2.5]), (some, ["x", 1])):
        (tmp_path / "u.xlsx").write_bytes(table_bytes(Path("u.xlsx"), part.columns, part.written))
        assert read_table(tmp_path / "u.xlsx").written.mixed["a"][1] == expected


TYPED = pa.table(
    {
        "truth": [True, None, False],
        "whole": [1, None, 2**60],
        "money": pa.array(["1.50", None, "2.25"]).cast(pa.decimal128(6, 2)),
        "when": pa.array([0, None, 10**12], pa.timestamp("ms", tz="Europe/Zurich")),
        "day": pa.array([0, None, 20000], pa.date32()),
    }
)


def test_typed_tables_keep_their_types(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(path, {n: TYPED.column(n) for n in TYPED.column_names})
    again = read_table(write_table(path, read_table(path).columns))
    assert pa.table(again.columns) == TYPED
    assert b"2001-09-09 03:46:40+02:00" in csv_bytes({"when": TYPED.column("when")})


@pytest.mark.parametrize(
    ("texts", "column", "expected"),
    [
        (["True", "False"], [True, None], [True, False]),
        (["1", "3"], [1, None], [1, 3]),
        (["1", "3"], [1.0, None], [1.0, 3.0]),
        (["1", "3"], ["1", ""], ["1", "3"]),
        (["1", "b"], [1, None], ["1", "b"]),
    ],
)
def test_labels_that_are_filled_in_have_the_type_of_the_others(texts, column, expected):
    filled = cells_like(texts, pa.chunked_array([column])).to_pylist()
    assert filled == expected
    assert [*map(type, filled)] == [*map(type, expected)]


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    inputs = [tmp_path / "absent", None, tmp_path / "t.csv"]
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
