"""Tables of every kind: spreadsheets, JSON lines, Arrow, databases, several files, pipes."""

import gzip
import io
import re
import sqlite3
import sys
from contextlib import closing
from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

from seraph._apps.cli._tables import labels_of, read_table, read_tables, write_table
from tests.helpers.command import refusal
from tests.helpers.tables import ods, xlsx

FRAME = pd.DataFrame(
    {"name": ["a", "b", "c"], "x": [1.5, 2.0, np.nan], "n": [1, 2, 3], "kind": ["u", None, "v"]}
)


def sheet_rows():
    body = FRAME.astype(object).where(FRAME.notna(), None).to_numpy().tolist()
    return [list(FRAME), *body]


def files():
    arrow = io.BytesIO()
    feather.write_feather(pa.Table.from_pandas(FRAME), arrow)
    stream = io.BytesIO()
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return {
        "t.csv": FRAME.to_csv(index=False).encode(),
        "t.csv.gz": gzip.compress(FRAME.to_csv(index=False).encode()),
        "t.jsonl": FRAME.to_json(orient="records", lines=True).encode(),
        "t.ndjson": FRAME.to_json(orient="records", lines=True).encode(),
        "t.feather": arrow.getvalue(),
        "t.arrow": stream.getvalue(),
        "t.parquet": FRAME.to_parquet(),
        "t.xlsx": xlsx(sheet_rows()),
        "t.ods": ods(sheet_rows()),
    }


def assert_is_the_table(table, column="x"):
    assert set(table.names) == set(FRAME)
    assert labels_of(table, "kind").tolist() == ["u", None, "v"]
    assert [str(cell) for cell in table.cells("name").to_pylist()] == ["a", "b", "c"]
    assert table.points(["n"])["n"].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(
        ValueError, match=r"missing values in column 'x' .1, the first in (row 2|line 4)"
    ):
        table.points(["x"])


@pytest.mark.parametrize("name", files())
def test_a_table_is_the_same_in_every_format(name, tmp_path):
    (tmp_path / name).write_bytes(files()[name])
    assert_is_the_table(read_table(tmp_path / name))


@pytest.mark.parametrize(
    "name", [name for name in files() if name not in ("t.arrow", "t.xlsx", "t.ods")]
)
def test_a_table_from_a_pipe_is_known_by_its_content(name, tmp_path):
    stdin = io.TextIOWrapper(io.BytesIO(files()[name]))
    with patch.object(sys, "stdin", stdin):
        assert_is_the_table(read_tables([type(tmp_path)("-")]))


@pytest.mark.parametrize("name", ["t.jsonl", "t.feather", "t.xlsx", "t.ods"])
def test_a_damaged_file_is_refused(name, tmp_path):
    content = files()[name]
    for damaged in (content[: len(content) // 2], b"", b"\0" * 100):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=name):
            read_table(tmp_path / name)


def test_a_sheet_without_rows_or_with_two_types_in_a_column(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(xlsx([["a", "b"]]))
    with pytest.raises(ValueError, match="no rows"):
        read_table(tmp_path / "t.xlsx")
    (tmp_path / "t.xlsx").write_bytes(xlsx([["a", None], [1, 2], ["x", 3]]))
    table = read_table(tmp_path / "t.xlsx")
    assert table.cells("a").to_pylist() == ["1", "x"]
    assert table.names == ("a", "unnamed_2")


FAR = '<row r="1048576"><c r="XFD1048576"{}</row>'


def test_a_sheet_with_one_far_cell_is_refused_in_words(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(xlsx([["a"], [1]], FAR.format("><v>7</v></c>")))
    err = refusal("fit", tmp_path / "t.xlsx", "--label", "a")
    assert re.search(r"t\.xlsx: reading it takes 8\d\d\.\d GB of memory .*: take fewer rows", err)


def test_a_far_cell_without_a_value_does_not_count(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(xlsx([["a"], [1]], FAR.format(' s="0"/>')))
    assert read_table(tmp_path / "t.xlsx").cells("a").to_pylist() == [1]


def test_several_files_are_one_table(tmp_path):
    for name in ("t.csv", "t.jsonl"):
        (tmp_path / name).write_bytes(files()[name])
    table = read_tables([tmp_path / "t.csv", tmp_path / "t.jsonl"])
    assert table.n_rows == 6
    assert labels_of(table, "kind").tolist() == ["u", None, "v"] * 2
    assert table.points(["n"])["n"].tolist() == [1, 2, 3] * 2
    FRAME.assign(more=1).to_csv(tmp_path / "more.csv", index=False)
    with pytest.raises(ValueError, match=r"more.csv has the column 'more', unlike .*t.csv"):
        read_tables([tmp_path / "t.csv", tmp_path / "more.csv"])
    with pytest.raises(ValueError, match=r"t.csv lacks the column 'more'"):
        read_tables([tmp_path / "more.csv", tmp_path / "t.csv"])


def test_several_arrays_are_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(files()["t.csv"])
    np.save(tmp_path / "a.npy", np.eye(3))
    for names in (["a.npy", "a.npy"], ["t.csv", "a.npy"], ["a.npy", "t.csv"]):
        with pytest.raises(ValueError, match="and 1 more: arrays are not read together: join"):
            read_tables([tmp_path / name for name in names])


def test_a_decimal_is_the_number_that_it_says(tmp_path):
    with closing(duckdb.connect(str(tmp_path / "t.duckdb"))) as connection:
        connection.sql("CREATE TABLE t (kind DECIMAL(6, 2), a DECIMAL(6, 2))")
        connection.sql("INSERT INTO t VALUES (-1, 0.5), (1, 1.5), (2.5, 2.5)")
        pq.write_table(connection.sql("SELECT * FROM t").to_arrow_table(), tmp_path / "t.parquet")
    for name, sql in (("t.duckdb", "SELECT * FROM t"), ("t.parquet", None)):
        table = read_tables([tmp_path / name], sql=sql)
        assert labels_of(table, "kind").tolist() == [None, "1", "2.5"]
        assert np.ravel(table.points(["a"])).tolist() == [0.5, 1.5, 2.5]


def test_a_query_reads_from_sqlite_and_duckdb(tmp_path):
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        FRAME.to_sql("wines", connection, index=False)
        connection.commit()
    with closing(duckdb.connect(str(tmp_path / "t.duckdb"))) as connection:
        frame = pa.Table.from_pandas(FRAME)
        connection.register("frame", frame)
        connection.sql("CREATE TABLE wines AS SELECT * FROM frame")
    for name in ("t.sqlite", "t.duckdb"):
        path = tmp_path / name
        assert_is_the_table(read_tables([path], sql="SELECT * FROM wines ORDER BY n"))
        few = read_tables([path], sql="SELECT n, kind FROM wines WHERE n > 1 ORDER BY n")
        assert few.cells("n").to_pylist() == [2, 3]
        with pytest.raises(ValueError, match=r"the query fails: .*nowhere"):
            read_tables([path], sql="SELECT * FROM nowhere")
        with pytest.raises(ValueError, match="is a database: say what to read"):
            read_tables([path])
        with pytest.raises(ValueError, match=r"the query fails|no table"):
            read_tables([path], sql="DROP TABLE wines")
        assert read_tables([path], sql="SELECT * FROM wines").n_rows == 3
        with pytest.raises(ValueError, match="no rows"):
            read_tables([path], sql="SELECT * FROM wines WHERE n > 9")
    (tmp_path / "bad.db").write_bytes(b"x" * 5000)
    with pytest.raises(ValueError, match="cannot be read as a SQLite or DuckDB file"):
        read_tables([tmp_path / "bad.db"], sql="SELECT 1")


def test_a_query_selects_from_tables_that_were_read(tmp_path):
    (tmp_path / "t.csv").write_bytes(files()["t.csv"])
    table = read_tables([tmp_path / "t.csv"], sql="SELECT name, n FROM data WHERE kind = 'u'")
    assert table.cells("name").to_pylist() == ["a"]
    (tmp_path / "other.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match="the query fails"):
        read_tables([tmp_path / "t.csv"], sql=f"SELECT * FROM '{tmp_path / 'other.csv'}'")
    np.save(tmp_path / "x.npy", np.eye(2))
    with pytest.raises(ValueError, match="--sql needs named columns"):
        read_tables([tmp_path / "x.npy"], sql="SELECT 1")


@pytest.mark.parametrize("name", ["z.jsonl", "z.feather", "z.arrow"])
def test_what_is_written_can_be_read(name, tmp_path, rng):
    values = rng.normal(size=7)
    write_table(tmp_path / name, {"id": [f"é{k}" for k in range(7)], "x": values})
    table = read_table(tmp_path / name)
    np.testing.assert_array_equal(table.points(["x"])["x"], values)
    assert table.cells("id").to_pylist()[0] == "é0"
