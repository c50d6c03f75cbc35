"""Tables that are too large are refused in words, before they take the memory."""

import gzip
import io
import subprocess
import sys

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet
import pytest

from seraph._apps.cli._tables import _limits, read_table, read_tables
from seraph._apps.cli._tables._limits import MOST_COLUMNS, available_memory
from tests.helpers.command import refusal

TOO_MANY = f"has {MOST_COLUMNS + 1:,} columns, and a table with names may have {MOST_COLUMNS:,}"


def wide_files(n):
    """A table of two rows and n columns, in each format with names at its start."""
    names = [f"c{k}" for k in range(n)]
    line = ",".join(["1.5"] * n)
    table = pa.table([pa.array([1.5, 2.5])] * n, names=names)
    arrow, parquet = io.BytesIO(), io.BytesIO()
    with pa.ipc.new_stream(arrow, table.schema) as writer:
        writer.write_table(table)
    if n < 1000:  # it takes many seconds for many columns
        pa.parquet.write_table(table, parquet)
    return {
        "csv": f"{','.join(names)}\n{line}\n{line}\n".encode(),
        "arrow": arrow.getvalue(),
        "jsonl": ("{" + ",".join(f'"{name}":1' for name in names) + "}\n").encode() * 2,
        "parquet": parquet.getvalue(),
    }


@pytest.fixture(scope="module")
def too_wide():
    files = wide_files(MOST_COLUMNS + 1)
    return {kind: files[kind] for kind in ("csv", "arrow", "jsonl")}


@pytest.mark.parametrize("kind", ["csv", "arrow", "jsonl"])
def test_a_table_with_too_many_columns_is_refused(tmp_path, too_wide, kind):
    path = tmp_path / f"t.{kind}"
    path.write_bytes(too_wide[kind])
    err = refusal("fit", path, "--label", "class")
    assert TOO_MANY in err
    assert ".npy" in err
    with pytest.raises(ValueError, match=TOO_MANY):
        read_table(path)


def test_a_query_may_make_the_columns_that_are_asked_for(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    table = read_tables([tmp_path / "t.csv"], asked=["kind"], sql="SELECT a, b AS kind FROM data")
    assert table.names == ("a", "kind")


def has_left(size, monkeypatch):
    memory = psutil.virtual_memory()._replace(available=size)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "jsonl", "parquet", "npz"])
def test_what_does_not_fit_into_memory_is_refused_and_the_message_says_what_to_do(
    tmp_path, monkeypatch, kind
):
    path = tmp_path / f"t.{kind}"
    frame = pd.DataFrame({"a": np.arange(3000) % 7, "b": 1.0})
    write = {
        "csv": lambda: frame.to_csv(path, index=False),
        "csv.gz": lambda: frame.to_csv(path, index=False),
        "tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "parquet": lambda: frame.to_parquet(path),
        "npz": lambda: np.savez_compressed(path, X=frame.to_numpy()),
    }
    write[kind]()
    monkeypatch.setattr(_limits, "_SMALL", 0)
    own = 8 * frame.size
    has_left(4 * 3 * own, monkeypatch)
    assert read_table(path).n_rows == 3000
    has_left(3 * own // 2, monkeypatch)
    with pytest.raises(ValueError, match=r"reading it takes .* GB are left: .*\.npy") as refusal:
        read_table(path)
    assert str(refusal.value).startswith(f"{path}: ")


def test_the_memory_that_is_left_is_known():
    left = available_memory()
    if sys.platform == "linux":
        assert 2**20 < left < 2**50


READ = """
import resource, sys
from pathlib import Path
from seraph._apps.cli._tables import read_table
small = Path(sys.argv[1])
read_table(small).points()  # loads what is loaded once
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    points = read_table(Path(sys.argv[2])).points()
    print("read", end=" ")
except ValueError as error:
    print("refused", end=" ")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def memory_to_read(path):
    small = path.with_name("small.csv")
    small.write_text("a,b\n1,2\n")
    done = subprocess.check_output([sys.executable, "-c", READ, small, path], text=True).split()
    return done[0], int(done[1])


def tall(n_rows, cell):
    return b"a,b,c,d\n" + (b",".join([cell] * 4) + b"\n") * n_rows


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other units")
@pytest.mark.parametrize("cell", [b"1", b"12.5", b"-1.2345678901234567e-05"])
@pytest.mark.parametrize("packed", [False, True])
def test_reading_takes_at_most_three_times_the_size_of_a_table(tmp_path, cell, packed):
    n_rows = 2_000_000 // (1 + len(cell) // 4)
    data = tall(n_rows, cell)
    own = max(len(data), 8 * 4 * n_rows)
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    how, taken = memory_to_read(path)
    assert how == "read"
    assert taken < 3 * own + 60e6  # the blocks of the parser
