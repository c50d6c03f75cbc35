"""Tables of strangers: what is untidy in them is noticed, said, and remembered by the model."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seraph import load
from tests.helpers.command import ok, refusal
from tests.helpers.quick import few


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


# Columns


def test_numbers_that_are_named_like_ids_are_suspects_although_they_repeat():
    strangers().assign(**{"Sample Number": np.arange(60) % 40}).to_csv("t.csv", index=False)
    done = ok("fit", "t.csv", "--label", "kind", "--no-check")
    assert "numbers, perhaps ids: named like ids" in done.out
    assert "may only identify rows: 'Sample Number' (named like ids)" in done.err
    assert 'Leave out with --drop "Sample Number";' in done.err
    kept = ok("fit", "t.csv", "--label", "kind", "--no-check", "--keep", "Sample Number")
    assert "identify" not in kept.err


# Labels


def test_a_number_with_many_values_is_no_class_and_whole_ones_are_only_warned_of():
    frame = strangers().assign(**{"how much": (np.arange(60) % 23 / 9).round(4)})
    frame.loc[5, "how much"] = np.nan
    frame.assign(kind=np.arange(60) // 3 * 7).to_csv("t.csv", index=False)
    for command in (["fit"], ["compare", "--learner", "euclidean"]):
        err = refusal(*command, "t.csv", "--label", "how much", "--drop", "kind")
        assert "t.csv: 'how much' has 23 different numbers in 59 labels, so it measures" in err
        assert "seraph.classic.MLKR" in err
    err = ok("fit", "t.csv", "--label", "kind", "--no-check").err
    assert err.count("kind has 20 different numbers in 60 labels") == 1
    assert "(low, middle, high)" in err


@pytest.mark.parametrize("word", few(["?", "Unknown", "n/a"], "?".__eq__))
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
    assert f"{word!r} means unknown" in ok("--about", "m.skops").out
    filled = ok("predict", "m.skops", "t.csv")  # the model knows
    assert "no label" not in filled.err
    assert re.search(r"u\W+10\W+20", filled.out)
    other = ok("fit", "t.csv", "--label", "kind", "--unlabeled", "", "--no-check")
    assert re.search(r"classes\W+3: ", other.out)
    assert "read as no label" not in other.err


@pytest.mark.parametrize("word", ["-1", "NA", "None"])
def test_a_class_may_be_called_like_nothing(word):
    frame = strangers()
    frame["kind"] = frame["kind"].map({"u": "1", "v": word}).where(frame.index < 30, "")
    frame.to_csv("t.csv", index=False)
    keep = () if word == "None" else ("--unlabeled", "")
    if keep:
        assert f'(If {word!r} is a class, not "unknown", add --unlabeled "".)' in refusal(*FIT)
    done = ok(*FIT, *keep, "-o", "m.skops", "--report", "r.html")
    assert f"{word} (15)" in done.out
    ok("predict", "m.skops", "t.csv", "-o", "filled.csv")  # the model knows
    filled = pd.read_csv("filled.csv", keep_default_na=False, dtype=str)
    assert filled["kind"][:30].tolist() == frame["kind"][:30].tolist()
    assert filled["kind"][30:].tolist() == np.tile(["1", word], 15).tolist()
    assert set(filled["given"][:30]) == {"True"}
    classes = [{"row": k, "class": ["1", word][k % 2]} for k in range(20)]
    pd.DataFrame(classes).to_csv("answers.csv", index=False)  # as seraph ask --classes writes
    ok("fit", "t.csv", "--labels", "answers.csv", "--drop", "kind", "--no-check", "-o", "a.skops")
    assert load("a.skops").learned_from_["classes"] == {"1": 10, word: 10}
    assert load("a.skops")[-1].learners_[0][1].n_dissimilar_ == 100


def with_placeholder(word, n_classes):
    """A table in which nearly all rows have one label."""
    frame = strangers(200)
    frame["kind"] = [f"k{k % n_classes}" if k < 16 else word for k in range(200)]
    frame.to_csv("t.csv", index=False)


FIT = ["fit", "t.csv", "--label", "kind", "--no-check"]


@pytest.mark.parametrize("word", few(["pending", "not seen yet", "0"], "not seen yet".__eq__))
def test_a_label_of_nearly_all_rows_is_asked_about_before_the_fit(word):
    with_placeholder(word, 2)
    err = refusal(*FIT)
    assert f"184 of 200 rows have the label {word!r}. Does {word!r} mean unknown?" in err
    advice = shlex.split(re.search(r"Then add (--unlabeled .*?);", err)[1])
    assert advice == ["--unlabeled", word]
    assert re.search(r"classes\W+2: k0", ok(*FIT, *advice).out)
    assert re.search(r"classes\W+3: ", ok(*FIT, "--unlabeled", "").out)
    with_placeholder(word, 1)  # two classes, one of them rare
    ok(*FIT)


# Files


def german(frame):
    return frame.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")


@pytest.mark.parametrize(
    "encoding", few(["cp1252", "utf-8", "utf-8-sig", "utf-16"], "cp1252".__eq__)
)
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


# What becomes of each column


def untidy_table():
    """Forty rows with row numbers, names, holes, cities, dates, thousands and question marks."""
    rng = np.random.default_rng(0)
    n = 40
    truth = np.tile(["u", "v"], n // 2)
    shift = np.where(truth == "u", 0.0, 3.0)
    frame = pd.DataFrame(
        {
            "name": [f"N{k:02d}" for k in rng.permutation(n)],
            "a": (rng.normal(size=n) + shift).round(3),
            "b": rng.normal(size=n).round(3),
            "visit_no": rng.permutation(n) + 100,
            "city": rng.choice(["Bern", "Basel", "Chur"], n),
            "seen": (np.datetime64("2025-11-01") + rng.integers(0, 90, n)).astype(str),
            "day": 20260101 + rng.integers(0, 28, n),
            "cost_$_per_$": [f"{v:,}" for v in [1000, *rng.integers(500, 9000, n - 1)]],
            "kind": np.where(np.arange(n) < 12, truth, "?"),
        }
    )
    frame.loc[::7, "b"] = np.nan
    frame.loc[5, "city"] = np.nan
    frame.loc[6, "city"] = "Genf"
    return frame


UNTIDY = [*FIT, "--unlabeled", "?", "--id", "name"]
ALL = ["--onehot", "city", "--dates", "days", "--impute", "median"]


def test_one_attempt_says_what_became_of_each_column_and_makes_the_model_of_all_options():
    untidy_table().to_csv("t.csv")
    done = ok(*UNTIDY, "-o", "m.skops")
    assert "column 'cost_$_per_$' ('1,000' in line 2 is read as thousands)" in done.err
    for text in (
        r"b .6.\W+missing: filled in by the median\W+--impute knn",
        r"city\W+categories\W+--drop city",
        r"seen, day\W+dates: days since 1970\W+--dates parts, --dates drop",
        r"unnamed_1\W+left out: row numbers, without a name\W+--keep unnamed_1",
        r"visit_no\W+left out: ids, by its name\W+--keep visit_no",
    ):
        assert re.search(text, done.out), text
        assert re.search(text, ok("--about", "m.skops").out), text
    ok(*UNTIDY, *ALL, "-o", "asked.skops")
    learned, asked = load("m.skops"), load("asked.skops")
    np.testing.assert_array_equal(learned[-1].components_, asked[-1].components_)
    assert repr(learned[0].encoder_) == repr(asked[0].encoder_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--impute", "mean"], "'--impute': .*'mean' is not one of 'median', 'knn'"),
        (["--dates", "weeks"], "'--dates': .*'weeks' is not one of 'days', 'parts', 'drop'"),
        (["--onehot", "town"], "no column 'town'"),
        (["--unlabeled", "??"], r"no row has the label '\?\?' that --unlabeled names"),
        (["--learner", "itm"], "--learner must be one of meanmetric, .*'itm'. Did you mean itml"),
        (["--set", "gamma"], "--set must be NAME=VALUE"),
        (["--set", "lam=0"], "has no parameter lam. Did you mean seraph__lam"),
        (["--set", "seraph__gama=2"], "no parameter seraph__gama. Did you mean .* It has"),
        (["--learner", "itml", "--set", "lam=2"], "ITML has no parameter lam"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(options, message):
    untidy_table().to_csv("t.csv")
    assert re.search(message, refusal(*UNTIDY, *ALL, *options))


def test_a_model_remembers_how_its_table_was_written():
    rng = np.random.default_rng(1)
    kind = np.tile(["Köln", "Genève"], 15)
    frame = pd.DataFrame(
        {
            "Größe": np.where(kind == "Köln", 1.5, 4.5) + rng.random(30).round(3),
            "probability": rng.random(30).round(3),
            "Stadt": kind,
        }
    )
    text = frame.to_csv(index=False, sep=";", decimal=",")
    Path("t.csv").write_bytes(text.encode("latin-1"))
    note = ok("fit", "t.csv", "--label", "Stadt", "-o", "m.skops", "--no-check").err
    assert "t.csv: line 1 is not UTF-8 (byte 0xf6): read as cp1252" in note
    assert "t.csv: read with decimal commas, as in column 'Größe' (" in note
    frame.drop(columns="Stadt").to_csv("bare.csv", index=False)
    told = refusal("predict", "m.skops", "bare.csv")
    assert "bare.csv has no column 'Stadt', which holds the known classes" in told
    assert "The model learned from t.csv: --reference t.csv" in told
    ok("predict", "m.skops", "t.csv", "-o", "out.csv")
    head = Path("out.csv").read_text("latin-1").partition("\n")[0]
    assert head == "Größe;probability;Stadt;probability_;given;nearest"
    assert "--encoding klingon is not known" in refusal(
        "fit", "t.csv", "--label", "Stadt", "--encoding", "klingon"
    )
