"""Tables as they are: separators, ids, dates and unknown labels are noticed and said."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seraph import load
from tests.helpers.command import ok, refusal


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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    untidy_table().to_csv("t.csv")
    return tmp_path


FIT = ["fit", "t.csv", "--label", "kind", "--unlabeled", "?", "--id", "name", "--no-check"]
ALL = ["--onehot", "city", "--dates", "days", "--impute", "median"]


def test_one_attempt_says_what_became_of_each_column_and_makes_the_model_of_all_options(folder):
    done = ok(*FIT, "-o", "m.skops")
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
    ok(*FIT, *ALL, "-o", "asked.skops")
    learned, asked = load("m.skops"), load("asked.skops")
    np.testing.assert_array_equal(learned[-1].components_, asked[-1].components_)
    assert repr(learned[0].encoder_) == repr(asked[0].encoder_)


def test_a_table_of_text_alone_says_how_to_use_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("text,c\n" + "".join(f"word {k},{k % 2}\n" for k in range(12)))
    err = refusal("fit", "t.csv", "--label", "c")
    assert "no column is left as a feature: 'text' (text, different in every row). Use one" in err
    assert "--onehot text" in err


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
def test_wishes_that_cannot_be_met_are_refused(options, message, folder):
    assert re.search(message, refusal(*FIT, *ALL, *options))


def test_a_model_remembers_how_its_table_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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
