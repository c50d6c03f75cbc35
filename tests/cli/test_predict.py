"""predict, compare; and what all commands share: JSON and silence."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, MetricClassifier, load, save
from seraph._apps.cli._compare import _ranked, _Score, _verdict
from seraph._apps.cli._held_out import held_out_pair_errors
from seraph._apps.cli._learners import learners
from seraph.classic import MFDA, Euclidean
from tests.helpers.command import ok, refusal

FIT = ["fit", "wine.csv", "--label", "kind", "--id", "bottle"]
PREDICT = ["predict", "m.skops", *FIT[1:]]
COMPARE = ["compare", *FIT[1:], "--learner"]


def wines():
    frame = load_wine(as_frame=True).frame.sample(70, random_state=1).reset_index(drop=True)
    table = frame[["alcohol", "hue", "proline", "flavanoids"]].copy()
    table.insert(0, "bottle", [f"B{k}" for k in range(70)])
    table["truth"] = np.array(["x", "y", "z"])[frame["target"]]
    table["kind"] = table["truth"].where(np.arange(70) < 21, "")
    return table


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    wines().drop(columns="truth").to_csv(folder / "wine.csv", index=False)
    ok("fit", folder / "wine.csv", *FIT[2:], "-o", folder / "m.skops")
    return folder


def values(*arguments):
    return json.loads(ok(*arguments, "--json").out)


# predict


def test_every_row_without_a_label_gets_a_class_a_probability_and_a_reason(folder):
    out = ok(*PREDICT, "-o", "filled.csv").out
    assert "filled.csv: 70 rows, 49 of them filled in." in out
    filled, table = pd.read_csv("filled.csv"), wines()
    original = pd.read_csv("wine.csv")
    assert list(filled) == [*original, "probability", "given", "nearest"]
    same = [name for name in original if name != "kind"]
    pd.testing.assert_frame_equal(filled[same], original[same])
    assert filled["given"].tolist() == (table["kind"] != "").tolist()
    np.testing.assert_array_equal(filled["kind"][:21], table["kind"][:21])
    assert (filled["kind"] == table["truth"])[21:].mean() > 0.8
    open_rows = filled[~filled["given"]]
    assert open_rows["probability"].between(1 / 3, 1 - 1 / 22 / 3 + 1e-4).all()
    # The reason: the nearest labeled rows, by the distance of the model.
    model = load("m.skops")
    Z = model.transform(table[list(model.feature_names_in_)])
    row = open_rows.index[0]
    distances = np.linalg.norm(Z[:21] - Z[row], axis=1)
    nearest = re.findall(r"(B\d+) \((\w), ([\d.e-]+)\)", filled["nearest"][row])
    assert [name for name, _, _ in nearest] == [f"B{k}" for k in distances.argsort()[:3]]
    assert [kind for _, kind, _ in nearest] == [table["kind"][k] for k in distances.argsort()[:3]]
    assert float(nearest[0][2]) == pytest.approx(distances.min(), rel=5e-3)


def test_one_row_is_explained_by_its_id_or_number(folder):
    by_id = ok(*PREDICT, "--row", "B30").out
    assert re.search(r"Row B30: [xyz] \(probability 0\.\d+\)", by_id)
    assert re.search(r"│ B\d+ +│ [xyz]", by_id)
    wines().drop(columns=["truth", "bottle"]).to_csv("bare.csv", index=False)
    by_number = values("predict", "m.skops", "bare.csv", "--label", "kind", "--row", "30")
    assert by_number["predicted"] in "xyz"
    assert sum(by_number["probabilities"].values()) == pytest.approx(1.0)
    known = values("predict", "m.skops", "bare.csv", "--label", "kind", "--row", "3")
    assert known["given"] is True
    for table, row, message in (
        ("wine.csv", "B99", "no row of wine.csv has this bottle"),
        ("bare.csv", "B3", "--row B3: name a number"),
        ("bare.csv", "70", "only has rows 0 to 69"),
    ):
        assert message in refusal("predict", "m.skops", table, "--label", "kind", "--row", row)


def test_new_rows_are_classified_by_the_labels_of_another_table(folder):
    wines().drop(columns=["truth", "kind"]).tail(9).to_csv("new.csv", index=False)
    found = ok("predict", "m.skops", "new.csv", "--reference", "wine.csv", "--label", "kind",
               "--id", "bottle", "-o", "-").out  # fmt: skip
    both = ok(*PREDICT, "-o", "-").out
    assert found.splitlines()[1:] == both.splitlines()[-9:]


def test_probabilities_are_those_of_the_classifier_and_rank_the_rows(folder):
    found = values(*PREDICT)
    ok(*PREDICT, "-o", "filled.csv")
    filled, table = pd.read_csv("filled.csv"), wines()
    model = load("m.skops")
    points = table[list(model.feature_names_in_)]
    labels = table["kind"].where(table["kind"] != "", None).tolist()
    classifier = MetricClassifier(FrozenEstimator(model)).fit(points, labels)
    best = classifier.predict_proba(points).max(axis=1)
    np.testing.assert_allclose(filled["probability"][21:], best[21:], atol=1e-4)
    assert filled["probability"][21:].nunique() > 40
    least = 21 + best[21:].argsort()[:5]
    assert [row["row"] for row in found["least_sure"]] == [f"B{k}" for k in least]


def test_predictions_without_labels_are_refused(folder):
    wines().drop(columns=["truth", "kind"]).to_csv("new.csv", index=False)
    assert "--label" in refusal("predict", "m.skops", "new.csv")
    wines().assign(kind="x").to_csv("one.csv", index=False)
    assert "1 classes" in refusal("predict", "m.skops", "one.csv", "--label", "kind")


def test_two_rows_with_one_id_are_refused(folder):
    wines().assign(bottle="same").to_csv("twins.csv", index=False)
    assert "70 rows of twins.csv have this id" in refusal(
        "neighbors", "m.skops", "twins.csv", "--row", "same", "--id", "bottle"
    )


def test_a_model_of_complete_rows_made_in_python_refuses_others(folder):
    hole = np.random.default_rng(0).normal(size=70).round(2)
    frame = wines().assign(hole=hole)
    numbers = frame.drop(columns=["kind", "bottle", "truth"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(StandardScaler(), SERAPH()).fit(numbers, frame["truth"])
    save(model, "complete.skops")
    frame.to_csv("whole.csv", index=False)
    ok("predict", "complete.skops", "whole.csv", "--label", "kind", "-o", "p.csv")
    frame["hole"] = frame["hole"].where(frame["hole"] > -0.5)
    frame.to_csv("holes.csv", index=False)
    err = refusal("predict", "complete.skops", "holes.csv", "--label", "kind", "-o", "p.csv")
    assert "missing values in column 'hole'" in err
    assert "(--impute" not in err  # predict has no such option


# compare


def test_learners_and_rivals_are_compared_and_one_is_recommended(folder):
    done = ok(*COMPARE, "mfda", "-o", "c.csv")
    table = pd.read_csv("c.csv")
    rivals = {"Euclidean", "logistic regression", "label spreading", "always 'x'"}
    assert set(table["method"]) == {"MFDA", *rivals}
    errors = table["error"].str.partition(" ")[0].astype(float)
    assert errors.is_monotonic_increasing
    said = " ".join(done.out.split())
    assert f"{table['method'][0]} errs on {table['wrong'][0]} held-out labels, level" in said
    assert said.index("errs on") < said.index("Error on held-out labels")


def test_compare_and_fit_print_the_same_errors(folder):
    compared = values(*COMPARE, "meanmetric")
    check = values(*FIT)["check"]
    wrong = {method["method"]: method["wrong"] for method in compared["methods"]}
    assert wrong["MeanMetric"] == check["wrong"]
    assert wrong["Euclidean"] == check["wrong_euclidean"]
    assert wrong[f"always {check['guess']!r}"] == check["wrong_guess"]
    assert {method["n"] for method in compared["methods"]} == {check["n"]}
    # Most rows have a label here, so that held-out ones are no points of the fit.
    wines().to_csv("all.csv", index=False)
    every = ["all.csv", "--label", "truth", "--id", "bottle", "--drop", "kind"]
    compared = values("compare", *every, "--learner", "itml")
    check = values("fit", *every, "--learner", "itml")["check"]
    wrong = {method["method"]: method["wrong"] for method in compared["methods"]}
    assert (wrong["ITML"], wrong["Euclidean"]) == (check["wrong"], check["wrong_euclidean"])


def test_the_most_frequent_class_has_its_row_and_its_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["kind"] = np.where(np.arange(60) % 10 < 7, "often", "seldom")
    frame.to_csv("noise.csv", index=False)
    said = " ".join(ok("fit", "noise.csv", "--label", "kind").out.split())
    assert "better than to guess 'often' for each" in said
    assert "as good as" not in said
    assert re.search(r"always 'often' \W+ 18 of 60", said)
    said = " ".join(ok("compare", "noise.csv", "--label", "kind", "--learner", "itml").out.split())
    assert said.startswith("No method is clearly better than the same class for each row.")
    assert re.search(r"always 'often' \W+ 18 of 60", said)


def test_another_learner_takes_the_iterations_that_seraph_has_by_default(folder):
    ok(*FIT, "--learner", "itml", "--set", "max_iter=200", "--no-check", "-o", "itml.skops")
    assert load("itml.skops")[-1].max_iter == 200  # its own default is 500


def test_every_learner_of_the_package_is_compared():
    from seraph import classic
    from seraph._apps.cli._compare import _methods

    learners = {name for name in classic.__all__ if hasattr(getattr(classic, name), "fit")}
    assert {"MeanMetric", "SERAPH", *learners} - {"MLKR"} <= set(
        _methods(None)
    )  # MLKR learns from numbers


def test_a_learner_that_fails_does_not_end_the_comparison(folder, monkeypatch):
    monkeypatch.setattr(MFDA, "fit", lambda *args, **kwargs: 1 / 0)
    done = ok(*COMPARE, "mfda")
    assert "MFDA is left out: division by zero" in done.err
    assert "simplest" in done.out


def test_compare_takes_the_simplest_of_equals_and_says_what_is_level():
    wrong = {name: np.zeros(40, dtype=bool) for name in ("SERAPH", "ITML", "Euclidean")}
    ranked = _ranked([_Score(name, errors) for name, errors in wrong.items()])
    assert [score.name for score in ranked] == ["Euclidean", "SERAPH", "ITML"]
    assert "level with SERAPH, ITML" in _verdict(ranked)
    assert _verdict(ranked).endswith("Take Euclidean, the simplest of them.")
    wrong["Euclidean"][:2] = True
    ranked = _ranked([_Score(name, errors) for name, errors in wrong.items()])
    assert ranked[0].name == "SERAPH"
    assert "Take SERAPH" not in _verdict(ranked)
    assert "The simplest of them is Euclidean, which learns nothing" in _verdict(ranked)
    wrong["Euclidean"][:], wrong["ITML"][:20] = True, True
    ranked = _ranked([_Score(name, errors) for name, errors in wrong.items()])
    assert _verdict(ranked).startswith("Take SERAPH: it errs least, on 0 of 40 held-out")


# The check of pairs


def test_held_out_pairs_tell_a_better_distance_from_a_worse_one(rng):
    y = np.tile([0, 1], 60)
    X = rng.normal(size=(120, 10))
    X[:, 0] += 6 * y
    pairs = rng.integers(0, 120, size=(80, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    similar = y[pairs[:, 0]] == y[pairs[:, 1]]
    seen = []
    marks = Marks(pairs, similar, rows=len(X))
    found = held_out_pair_errors(MFDA(), X, marks, seed=0, after_fold=lambda: seen.append(1))
    assert found.noun == "pairs"
    assert found.n_folds == len(seen) == 5
    assert found.wrong < found.wrong_euclidean
    same = held_out_pair_errors(Euclidean(), X, marks, seed=0, after_fold=lambda: None)
    assert same.wrong == same.wrong_euclidean == found.wrong_euclidean
    alike = Marks(pairs, np.ones(len(pairs), dtype=bool), rows=len(X))
    assert held_out_pair_errors(MFDA(), X, alike, seed=0, after_fold=lambda: None) is None


# What all commands share


def test_results_are_one_json_object(folder):
    found = values(*FIT, "-o", "j.skops")
    assert found["model"] == "j.skops"
    assert found["classes"] == load("m.skops").learned_from_["classes"]
    assert found["check"]["n"] == 21
    assert values("inspect", "m.skops")["members"] == found["members"]
    assert found["members"] == pytest.approx(dict.fromkeys(("seraph", "lrml", "itml"), 1 / 3))
    mapped = values("transform", "m.skops", "wine.csv", "--id", "bottle")
    assert mapped["columns"][0] == "bottle"
    assert len(mapped["rows"]) == 70
    near = values("neighbors", "m.skops", "wine.csv", "--row", "B3", "--id", "bottle", "-k", "2")
    assert near["row"] == 3
    assert len(near["neighbors"]) == 2
    assert len(values("query", "m.skops", "wine.csv", "-n", "3")["pairs"]) == 3


def test_a_quiet_command_prints_nothing_but_its_files(folder):
    wines().assign(kind="?").to_csv("odd.csv", index=False)
    early = ["--set", "seraph__max_iter=2"]
    done = ok(*FIT, *early, "--quiet", "-o", "q.skops")
    assert (done.out, done.err) == ("", "")
    assert Path("q.skops").exists()
    assert ok("transform", "m.skops", "wine.csv", "-q").out.count("\n") == 71
    # The next command prints its notes again.
    assert "note: SERAPH has not converged" in ok(*FIT, *early).err


def test_a_model_remembers_the_columns_of_its_labels_and_ids(folder):
    table = pd.read_csv("wine.csv", keep_default_na=False)
    table["kind"] = table["kind"].replace("", "open")
    table.to_csv("open.csv", index=False)
    ok("fit", "open.csv", "--label", "kind", "--unlabeled", "open", "--id", "bottle", "--no-check",
       "-o", "o.skops")  # fmt: skip
    found = values("predict", "o.skops", "open.csv", "-o", "filled.csv")
    assert found["classes"].keys() == {"x", "y", "z"}
    filled = pd.read_csv("filled.csv")
    assert filled["given"].sum() == 21
    assert filled["bottle"].tolist() == table["bottle"].tolist()
    named = values("predict", "o.skops", "open.csv", "--label", "kind", "--unlabeled", "open",
                   "--id", "bottle", "-o", "same.csv")  # fmt: skip
    assert named["classes"] == found["classes"]
    assert Path("same.csv").read_bytes() == Path("filled.csv").read_bytes()
    assert values("neighbors", "o.skops", "open.csv", "--row", "B3")["row"] == 3
    assert "id_i" in values("query", "o.skops", "open.csv", "-n", "1")["pairs"][0]
    assert "'open' means unknown" in ok("inspect", "o.skops").out
    # A table without those columns, and a label of another name
    table.drop(columns=["kind", "bottle"]).to_csv("bare.csv", index=False)
    assert values("neighbors", "o.skops", "bare.csv", "--row", "3")["label"] is None
    renamed = table.rename(columns={"kind": "sort"})
    renamed["sort"] = renamed["sort"].replace("open", "")
    renamed.to_csv("renamed.csv", index=False)
    found = values("predict", "o.skops", "renamed.csv", "--label", "sort", "-o", "r.csv")
    assert found["classes"] == named["classes"]


def test_a_learner_of_numbers_is_not_one_of_classes(folder):
    assert "--learner must be one of" in refusal(*FIT, "--learner", "mlkr")
    assert "MLKR" not in {method.__name__ for method in learners().values()}
