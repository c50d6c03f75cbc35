"""predict, compare; and what all commands share: JSON and silence."""

import json
import re
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.frozen import FrozenEstimator

from seraph import MetricClassifier, load
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
    assert open_rows["probability"].between(1 / 3, 0.9999).all()
    # The reason: the nearest labeled rows, by the distance of the model.
    model = load("m.skops")
    Z = model.transform(table[list(model.feature_names_in_)])
    row = open_rows.index[0]
    distances = np.linalg.norm(Z[:21] - Z[row], axis=1)
    nearest = re.findall(r"(B\d+) \((\w), ([\d.e-]+)\)", filled["nearest"][row])
    assert [name for name, _, _ in nearest] == [f"B{k}" for k in distances.argsort()[:3]]
    assert [kind for _, kind, _ in nearest] == [table["kind"][k] for k in distances.argsort()[:3]]
    assert float(nearest[0][2]) == pytest.approx(distances.min(), rel=5e-3)


def test_labels_that_the_data_have_of_their_own_are_kept(folder):
    table = wines().drop(columns="truth")
    own = table.assign(kind=table["kind"].where(table.index != 60, "own"))[50:]
    own.to_csv("own.csv", index=False)
    table.drop(columns="kind").to_csv("bare.csv", index=False)
    said = [{"row": k, "id": f"B{k}", "class": table["kind"][k]} for k in range(21)]
    pd.DataFrame(said).to_csv("answers.csv", index=False)
    by_column = ["--reference", "wine.csv"]
    by_file = ["--reference", "bare.csv", "--labels", "answers.csv"]
    for known in (by_column, by_file):
        ok("predict", "m.skops", "own.csv", *known, "-o", "filled.csv")
        filled = pd.read_csv("filled.csv")
        assert filled["kind"][10] == "own"
        assert filled["given"].tolist() == [k == 10 for k in range(20)]
        assert filled["probability"][10] == 1.0
    bare = pd.read_csv("bare.csv").rename(columns={"alcohol": "class"})
    bare.assign(alcohol=bare["class"]).to_csv("class.csv", index=False)
    ok("predict", "m.skops", "class.csv", "--labels", "answers.csv", "-o", "filled.csv")
    filled = pd.read_csv("filled.csv")
    np.testing.assert_array_equal(filled["class"], bare["class"])
    assert set(filled["class_"]) == {"x", "y", "z"}


def test_a_table_that_was_filled_in_is_read_as_it_was(folder):
    ok("predict", "m.skops", "wine.csv", "-o", "filled.csv")
    again = ok("predict", "m.skops", "filled.csv", "-o", "again.csv")
    assert "filled.csv was filled in by seraph predict: the 49 classes" in again.err
    assert Path("again.csv").read_bytes() == Path("filled.csv").read_bytes()
    ok(*FIT[:1], "filled.csv", *FIT[2:], "-o", "again.skops", "--no-check")
    first, second = load("m.skops"), load("again.skops")
    np.testing.assert_array_equal(first[-1].components_, second[-1].components_)


def test_a_graph_has_the_probabilities_of_predict_and_takes_empty_text_for_na(folder):
    table = pd.read_csv("wine.csv", keep_default_na=False)
    table["town"] = [["Bern", "Chur", "NA"][k % 3] for k in range(70)]
    table.loc[:20:2, "kind"] = "x"  # so that too sure probabilities become less so
    table.to_csv("towns.csv", index=False)
    ok("fit", "towns.csv", *FIT[2:], "-o", "t.skops")
    assert load("t.skops").learned_from_["check"]["sharpness"] < 0.98
    ok("export", "t.skops", "-o", "t.onnx", "--data", "towns.csv")
    ok("predict", "t.skops", "towns.csv", "-o", "filled.csv")
    filled = pd.read_csv("filled.csv")
    session = onnxruntime.InferenceSession("t.onnx")
    for missing in ("NA", ""):
        fed = table.assign(town=table["town"].replace("NA", missing))
        inputs = {
            one.name: fed[[one.name]].to_numpy(str if one.name == "town" else np.float64)
            for one in session.get_inputs()
        }
        classes, shares, _ = session.run(None, inputs)
        np.testing.assert_array_equal(classes[21:], filled["kind"][21:])
        np.testing.assert_allclose(shares.max(axis=1)[21:], filled["probability"][21:], atol=2e-4)


def test_classes_are_those_of_the_classifier_and_probabilities_rank_as_its_own(folder):
    found = values(*PREDICT, "-o", "filled.csv")
    filled, table = pd.read_csv("filled.csv"), wines()
    model = load("m.skops")
    points = table[list(model.feature_names_in_)]
    labels = table["kind"].where(table["kind"] != "", None).tolist()
    features = model[0].transform(points)
    classifier = MetricClassifier(FrozenEstimator(model[-1]), rule="all").fit(features, labels)
    powers = classifier.predict_proba(features)[21:] ** model.learned_from_["check"]["sharpness"]
    expected = (powers / powers.sum(axis=1, keepdims=True)).max(axis=1)
    np.testing.assert_allclose(filled["probability"][21:], expected, atol=1e-4)
    assert filled["kind"][21:].tolist() == classifier.predict(features)[21:].tolist()
    least = 21 + expected.argsort()[:5]
    assert [row["row"] for row in found["least_sure"]] == [f"B{k}" for k in least]


def test_ids_of_a_spreadsheet_are_whole_numbers_and_a_spreadsheet_comes_out(folder):
    table = wines().drop(columns="truth")
    table.assign(bottle=np.arange(1500, 1570)).to_excel("wine.xlsx", index=False)
    ok("fit", "wine.xlsx", *FIT[2:], "--no-check", "-o", "x.skops")
    ok("predict", "x.skops", "wine.xlsx", "-o", "filled.xlsx")
    filled = pd.read_excel("filled.xlsx", engine="calamine")
    assert filled["bottle"].tolist() == list(range(1500, 1570))
    assert re.match(r"15\d\d \([xyz], ", filled["nearest"][30])


def test_predictions_without_labels_are_refused(folder):
    wines().drop(columns=["truth", "kind"]).to_csv("new.csv", index=False)
    assert "--label" in refusal("predict", "m.skops", "new.csv")
    wines().assign(kind="x").to_csv("one.csv", index=False)
    assert "1 classes" in refusal("predict", "m.skops", "one.csv", "--label", "kind")


# compare


def test_learners_and_rivals_are_compared_with_the_errors_that_fit_prints(folder):
    found, check = values(*COMPARE, "meanmetric"), values(*FIT)["check"]
    table = pd.DataFrame(found["methods"])
    rivals = {
        "Euclidean", "logistic regression", "label spreading", "random forest",
        "always guessing 'x'",
    }  # fmt: skip
    assert set(table["method"]) == {"MeanMetric and a forest", *rivals}
    assert table["error"].is_monotonic_increasing
    best = table.iloc[0]
    first = ", ".join(table["method"][table["wrong"] == best["wrong"]])
    begin = f"Fewest errors, {best['wrong']} of {best['n']} held-out labels: {first}."
    assert found["verdict"].startswith(begin)
    assert table["p_value"].between(0, 1).all()
    wrong = dict(zip(table["method"], table["wrong"], strict=True))
    assert wrong["MeanMetric and a forest"] == check["wrong"]
    assert wrong["Euclidean"] == check["wrong_euclidean"]
    assert wrong[check["guess"]] == check["wrong_guess"]
    assert set(table["n"]) == {check["n"]}


# What all commands share


def test_results_are_one_json_object(folder):
    found = values(*FIT, "-o", "j.skops")
    assert found["model"] == "j.skops"
    assert found["classes"] == load("m.skops").learned_from_["classes"]
    assert found["check"]["n"] == 21
    assert 0.0 < found["seconds"] < 60.0
    assert found["members"] == pytest.approx(dict.fromkeys(("seraph", "lrml", "itml"), 1 / 3))
    mapped = values("transform", "m.skops", "wine.csv", "--id", "bottle")
    assert mapped["columns"][0] == "bottle"
    assert len(mapped["rows"]) == 70


def test_a_quiet_command_prints_nothing_but_its_files(folder):
    wines().assign(kind="?").to_csv("odd.csv", index=False)
    early = ["--set", "seraph__max_iter=2"]
    done = ok(*FIT, *early, "--quiet", "-o", "q.skops")
    assert (done.out, done.err) == ("", "")
    assert Path("q.skops").exists()
    assert ok("transform", "m.skops", "wine.csv", "-q").out.count("\n") == 71
    # The next command prints its notes again.
    assert "note: SERAPH has not converged" in ok(*FIT, *early).err


def test_new_rows_are_classified_by_the_labels_of_another_table(folder):
    wines().drop(columns=["truth", "kind"]).tail(9).to_csv("new.csv", index=False)
    found = ok("predict", "m.skops", "new.csv", "--reference", "wine.csv", "--label", "kind",
               "--id", "bottle", "-o", "-").out  # fmt: skip
    both = ok(*PREDICT, "-o", "-").out
    assert found.splitlines()[1:] == both.splitlines()[-9:]
