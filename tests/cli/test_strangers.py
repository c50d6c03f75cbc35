"""Tables of strangers: ids that repeat, quantities, question marks, one word among numbers."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from seraph import TablePreparer, load
from tests.helpers.command import ok, refusal


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def strangers(n=60):
    """Two kinds of rows that two columns tell apart, and no others."""
    rng = np.random.default_rng(0)
    kind = np.tile(["u", "v"], n // 2)
    shift = np.where(kind == "u", 0.0, 3.0)
    columns = {name: (rng.normal(size=n) + shift).round(3) for name in ("a", "b")}
    return pd.DataFrame({**columns, "kind": kind})


def columns_said(out):
    """The first two columns of the table that says what became of each column."""
    block = out[out.index("Columns") : out.index("What matters")]
    rows = []
    for line in block.splitlines():
        if line.startswith("│"):
            first, second, _ = (cell.strip() for cell in line.strip("│").split("│"))
            if second:
                rows.append([first, second])
            else:  # a long cell goes on
                rows[-1][0] += f" {first}"
    return {use: name for name, use in rows}


# Columns


def test_every_column_that_is_used_is_named():
    frame = strangers()
    names = [f"measure_{k}" for k in range(30)]
    more = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 30)), columns=names)
    pd.concat([more, frame], axis=1).to_csv("t.csv", index=False)
    out = ok("fit", "t.csv", "--label", "kind", "--no-check").out
    assert columns_said(out)["numbers"].split(", ") == [*names, "a", "b"]
    shares = out[out.index("What matters") :]
    assert "other" not in shares
    assert all(f" {name} " in shares for name in (*names, "a", "b"))


@pytest.mark.parametrize("name", ["ID", "Sample Number", "patient_id", "code"])
def test_numbers_that_are_named_like_ids_are_suspects_although_they_repeat(name):
    frame = strangers().assign(**{name: np.arange(60) % 40})
    frame.to_csv("t.csv", index=False)
    done = ok("fit", "t.csv", "--label", "kind", "--no-check", "-o", "m.skops")
    assert columns_said(done.out) == {
        "numbers, perhaps ids: named like ids": name, "numbers": "a, b",
    }  # fmt: skip
    quoted = f'"{name}"' if " " in name else name
    assert f"column {name!r} (named like ids) is used as a number, and may only identify rows. " \
        f"Leave it out with --drop {quoted}" in done.err  # fmt: skip
    assert load("m.skops")[0].columns_[name] == "numbers, perhaps ids: named like ids"
    for choice in ("--drop", "--keep"):
        assert (
            "identify" not in ok("fit", "t.csv", "--label", "kind", "--no-check", choice, name).err
        )


def test_whole_numbers_that_are_nearly_all_distinct_are_suspects():
    values = np.random.default_rng(0).permutation(60) + 1000
    values[7] = values[8]
    frame = strangers().assign(x=values, y=np.tile(np.arange(6), 10))
    frame.to_csv("t.csv", index=False)
    done = ok("compare", "t.csv", "--label", "kind", "--learner", "euclidean")
    assert "column 'x' (whole numbers, nearly all distinct) is used as a number" in done.err
    assert "'y'" not in done.err
    use = TablePreparer().fit(frame).columns_["x"]
    assert use == "numbers, perhaps ids: whole numbers, nearly all distinct"
    thousands = [f"{value:,}" for value in values]
    strangers().assign(x=thousands).to_csv("cost.csv", index=False)
    done = ok("fit", "cost.csv", "--label", "kind", "--no-check")
    assert "ids" not in done.err + done.out


# Labels


def test_a_number_with_many_values_is_no_class_and_the_advice_works():
    frame = strangers()
    frame["how much"] = (np.arange(60) % 23 / 9).round(4)
    frame.loc[5, "how much"] = np.nan
    frame.to_csv("t.csv", index=False)
    for command in (["fit"], ["compare", "--learner", "euclidean"]):
        err = refusal(*command, "t.csv", "--label", "how much", "--drop", "kind")
        assert "t.csv: 'how much' has 23 different numbers in 59 labels, so it measures" in err
        assert "seraph.classic.MLKR" in err
    advice = re.search(r"such as (--label .*?); or", err)[1]
    done = ok("fit", "t.csv", *shlex.split(advice), "--drop", "kind", "--no-check")
    high = int((frame["how much"] > frame["how much"].median()).sum())
    assert re.search(rf"classes\W+2: high \({high}\), low \({59 - high}\)", done.out)


def test_whole_numbers_that_may_be_names_are_only_warned_of():
    strangers().assign(kind=np.arange(60) // 3 * 7).to_csv("t.csv", index=False)
    done = ok("fit", "t.csv", "--label", "kind", "--no-check")
    notes = [line for line in done.err.splitlines() if "class" in line]
    assert len(notes) == 1
    assert "kind has 20 different numbers in 60 labels" in notes[0]
    assert "(low, middle, high)" in notes[0]


@pytest.mark.parametrize("word", ["?", "Unknown", "n/a"])
def test_words_for_an_unknown_class_are_no_labels_and_that_is_said_first(word):
    frame = strangers()
    frame.loc[20:, "kind"] = word
    frame.to_csv("t.csv", index=False)
    done = ok("fit", "t.csv", "--label", "kind", "-o", "m.skops")
    assert f"t.csv: 40 rows have {word!r} as kind, which is read as no label." in done.err
    assert re.search(r"classes\W+2: u \(10\), v \(10\)", done.out)
    named = ok("fit", "t.csv", "--label", "kind", "--unlabeled", word, "-o", "named.skops")
    assert "no label" not in named.err
    np.testing.assert_array_equal(
        load("m.skops")[-1].components_, load("named.skops")[-1].components_
    )
    assert f"{word!r} means unknown" in ok("inspect", "m.skops").out
    filled = ok("predict", "m.skops", "t.csv")  # the model knows
    assert "no label" not in filled.err
    assert re.search(r"u\W+10\W+20", filled.out)
    other = ok("fit", "t.csv", "--label", "kind", "--unlabeled", "", "--no-check")
    assert re.search(r"classes\W+3: ", other.out)
    assert "read as no label" not in other.err


def test_plus_and_minus_are_classes():
    frame = strangers()
    frame["kind"] = frame["kind"].map({"u": "+", "v": "-"})
    frame.to_csv("t.csv", index=False)
    done = ok("fit", "t.csv", "--label", "kind", "--no-check")
    assert re.search(r"classes\W+2: \+ \(30\), - \(30\)", done.out)
    assert "'-', which counts as a class" in done.err


def test_the_verdict_comes_before_the_tables():
    strangers().to_csv("t.csv", index=False)
    out = ok("fit", "t.csv", "--label", "kind").out
    order = ["distance", "Error on held-out", "Columns", "What matters", "│ learner"]
    assert [out.index(words) for words in order] == sorted(out.index(words) for words in order)


def test_notes_come_before_the_results():
    frame = strangers()
    frame.loc[20:, "kind"] = "?"
    frame.to_csv("t.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-m", "seraph", "fit", "t.csv", "--label", "kind", "--no-check"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("seraph: note: t.csv: 40 rows have '?' as kind")


def test_a_column_of_numbers_with_one_word_says_how_to_use_it():
    frame = strangers().assign(cylinders=np.tile(["4", "6", "8"], 20))
    frame.loc[9, "cylinders"] = "rotary"
    frame.to_csv("t.csv", index=False)
    said = " ".join(ok("fit", "t.csv", "--label", "kind", "--no-check").out.split())
    assert "left out: numbers and text, 'rotary' in line 11" in said
    assert "--onehot cylinders, or correct that cell" in said
    ok("fit", "t.csv", "--label", "kind", "--no-check", "--onehot", "cylinders")
    frame["cylinders"] = np.r_[np.arange(59) / 7.0, [0]].astype(str)
    frame.loc[9, "cylinders"] = "rotary"  # of so many values, categories would be nonsense
    frame.to_csv("t.csv", index=False)
    assert "--onehot" not in ok("fit", "t.csv", "--label", "kind", "--no-check").out


# Files


def german(frame):
    return frame.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_predict_writes_a_table_as_it_was_read(encoding, folder):
    frame = strangers()
    frame["kind"] = frame["kind"].map({"u": "Köln", "v": "Genève"}).where(frame.index < 20)
    (folder / "t.csv").write_bytes(german(frame).encode(encoding))
    note = ok("fit", "t.csv", "--label", "kind", "--no-check", "-o", "m.skops").err
    assert ("not UTF-8" in note) == (encoding == "cp1252")
    done = ok("predict", "m.skops", "t.csv", "-o", "out.csv")
    assert "UTF-8" not in done.err
    lines = (folder / "out.csv").read_bytes().decode(encoding).split("\r\n")
    assert lines[0] == "a;b;kind;probability;given;nearest"
    before = german(frame).split("\r\n")
    assert [line.split(";")[:2] for line in lines[1:]] == [
        line.split(";")[:2] for line in before[1:]
    ]
    assert re.fullmatch(r"0,\d+", lines[40].split(";")[3])
    read = pd.read_csv(folder / "out.csv", sep=";", decimal=",", encoding=encoding)
    assert set(read["kind"]) == {"Köln", "Genève"}


def test_what_an_encoding_lacks_is_written_in_utf_8(folder):
    frame = strangers()
    frame["kind"] = np.where(frame["kind"] == "u", "Köln", "Łódź")
    frame.to_csv("t.csv", index=False)
    ok("fit", "t.csv", "--label", "kind", "--no-check", "-o", "m.skops")
    new = frame.assign(kind="", town="Genève")
    (folder / "new.csv").write_bytes(new.to_csv(index=False).encode("cp1252"))
    done = ok("predict", "m.skops", "new.csv", "--reference", "t.csv", "-o", "out.csv")
    assert "cp1252 has no 'Ł': written in UTF-8 instead." in done.err
    assert set(pd.read_csv("out.csv")["kind"]) == {"Köln", "Łódź"}


def test_a_folder_is_called_a_folder(folder):
    (folder / "tables").mkdir()
    strangers().to_csv("t.csv", index=False)
    assert "tables is a folder, not a table" in refusal("fit", "tables", "--label", "kind")
    err = refusal("fit", "t.csv", "--label", "kind", "-o", "tables")
    assert "tables is a folder: name a file in it" in err


def test_a_line_is_called_a_line_where_each_row_is_one(folder):
    text = "a,b,kind\n" + "".join(f"{k / 2},{k % 5 / 4},{'uv'[k % 2]}\n" for k in range(20))
    for name, data, place in (
        ("t.csv", text.replace("\n2.5,", "\nx,"), "line 7"),
        ("blank.csv", text.replace("\n2.5,", "\n\nx,"), "row 5"),
    ):
        (folder / name).write_text(data)
        err = refusal("fit", name, "--label", "kind", "--keep", "a")
        assert f"'x' in {place}" in err


def test_contradictory_pairs_are_named_by_their_lines(folder):
    strangers().to_csv("t.csv", index=False)
    (folder / "p.csv").write_text("i,j,similar\n0,1,0\n2,3,no\n0,2,1\n1,0,yes\n")
    err = refusal("fit", "t.csv", "--pairs", "p.csv", "--drop", "kind")
    assert "p.csv, line 2 and line 5: the rows 0 and 1 are called similar and dissimilar" in err


def test_transform_advises_no_options_that_it_lacks(folder):
    rng = np.random.default_rng(0)
    np.savez("t.npz", X=rng.normal(size=(30, 2)), y=np.arange(30) % 2)
    ok("fit", "t.npz", "--no-check", "-o", "m.skops")
    options = set(re.findall(r"--[\w-]+", ok("transform", "--help").out))
    for cells in ("red", "2026-01-31", "", "1e300"):
        (folder / "new.csv").write_text(f"a,b\n1,2\n3,{cells}\n")
        err = refusal("transform", "m.skops", "new.csv")
        own = re.sub(r"\(seraph fit .*?\)", "", err)
        assert set(re.findall(r"--[\w-]+", own)) <= options, err
        assert "line 3" in err


def test_a_small_command_imports_no_large_package(folder):
    strangers().to_csv("t.csv", index=False)
    ok("fit", "t.csv", "--label", "kind", "--no-check", "-o", "m.skops")
    code = (
        "import sys; from seraph._apps.cli import main\n"
        "sys.argv = ['seraph', 'transform', 'm.skops', 't.csv', '-o', 'out.csv']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'skops.io' in sys.modules\n"
        "assert not {'torch', 'dask', 'matplotlib', 'onnx'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (folder / "out.csv").exists()
