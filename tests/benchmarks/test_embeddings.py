"""The benchmark on embeddings: its tasks, and a run that goes on after it was stopped."""

import numpy as np
import pytest

from benchmarks.embeddings import _report, _run, _tasks
from benchmarks.embeddings.__main__ import main
from benchmarks.evidence._fetch import Unavailable
from benchmarks.evidence._run import Records, run


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SERAPH_EVIDENCE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def vectors():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4
    X = rng.normal(size=(80, 5)) + 2 * np.eye(5)[y]
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def test_no_judged_row_was_marked_and_the_same_seed_gives_the_same_task(vectors):
    for setting in ("pairs-40", "near-40", "classes-3"):
        one, two = (_tasks.sample(*vectors, setting, seed=2) for _ in range(2))
        assert np.array_equal(one.X, two.X)
        assert np.array_equal(one.X_test, two.X_test)
        assert not {tuple(x) for x in one.X} & {tuple(x) for x in one.X_test}


def test_near_marks_are_true_and_among_the_nearest(vectors):
    task = _tasks.sample(*vectors, "near-40", seed=0)
    i, j = task.pairs.T
    assert np.array_equal(task.pair_labels == 1, task.classes[i] == task.classes[j])
    assert len(np.unique(task.pairs, axis=0)) == 40
    D = ((task.X[:, None] - task.X) ** 2).sum(axis=2)
    rank = np.argsort(np.argsort(D, axis=1), axis=1)  # 0 is the row itself
    assert np.all(np.minimum(rank[i, j], rank[j, i]) <= _tasks.NEIGHBORS)
    random = _tasks.sample(*vectors, "pairs-40", seed=0)
    assert D[i, j].mean() < 0.7 * D[tuple(random.pairs.T)].mean()


def test_each_class_gets_its_labels(vectors):
    task = _tasks.sample(*vectors, "classes-3", seed=0)
    labels = task.y[task.y >= 0]
    assert np.bincount(labels).tolist() == [3] * 4
    assert np.array_equal(labels, task.classes[task.y >= 0])


def test_a_set_that_is_too_small_for_a_setting_gives_no_task(vectors):
    assert _tasks.sample(*vectors, "classes-19", seed=0) is None  # more than there are
    assert _tasks.sample(*vectors, "near-1000", seed=0) is None
    assert _tasks.sample(*vectors, "pairs-1000", seed=0) is None
    one_class = vectors[0], np.zeros(80, dtype=int)
    assert _tasks.sample(*one_class, "near-40", seed=0) is None
    assert _tasks.sample(*one_class, "classes-1", seed=0) is None


def test_a_stopped_run_goes_on(tmp_path, vectors, monkeypatch):
    monkeypatch.setattr(_run, "load", lambda name: vectors)
    settings = ("pairs-40", "classes-3", "near-1000")
    path = tmp_path / "records.jsonl"
    units = _run.plan(["faces"], 1, (), settings)
    assert [unit.setting for unit in units] == list(settings)
    records = Records(path)
    run(units[:1], 1, records.add, _run.work)
    again = Records(path)
    left = _run.plan(["faces"], 1, again.found, settings)
    assert [unit.setting for unit in left] == ["classes-3", "near-1000"]
    run(left, 1, again.add, _run.work)
    found = Records(path).found
    assert _run.plan(["faces"], 1, found, settings) == []
    assert all(("skipped" in r) == (r["setting"] == "near-1000") for r in found.values())
    assert not any("failed" in r for r in found.values())


def test_the_definitions_are_there_without_a_network():
    X, y = _tasks.load("definitions-minilm")
    assert X.shape == (1000, 384)
    assert np.bincount(y).tolist() == [100] * 10


def test_a_set_that_cannot_be_had_is_left_out_in_one_line(monkeypatch, capsys):
    def load(name):
        if name == "faces":
            raise Unavailable("npm is missing on this machine")
        if name == "reuters52-minilm":
            raise ValueError("Row 2 of the vectors is zero or not finite")
        return "X", "y"

    monkeypatch.setattr(_run, "load", load)
    assert _run.available(["faces", "definitions-minilm", "reuters52-minilm"]) == [
        "definitions-minilm"
    ]
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "left out: faces: npm is missing on this machine"
    assert said[1].startswith("left out: reuters52-minilm: Row 2")
    assert len(said) == 2


def test_a_demonstration_that_cannot_run_ends_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    picture = tmp_path / "maps.png"
    with pytest.raises(SystemExit, match=r"^python -m benchmarks.embeddings: npm is missing"):
        main(["demo", "faces", "--picture", str(picture)])
    assert not picture.exists()


# The report


def made_up(gains, sets=("definitions-minilm", "faces"), samplings=10):
    """Records in which a method is better than the cosine by its gain; faces has no 1,000."""
    rng = np.random.default_rng(0)
    for name in sets:
        for setting in _tasks.SETTINGS:
            way, count = setting.split("-")
            if name == "faces" and count == "1000":
                continue
            for seed in range(samplings):
                base = rng.uniform(40, 60)
                for method in _tasks.METHODS[way]:
                    gain = gains.get(method, 0.0) + rng.normal(scale=1e-3)
                    record = {"set": name, "setting": setting, "seed": seed, "method": method}
                    values = {"error": base - gain, "auc": base + gain, "map": base + gain}
                    yield record | values | {"seconds": 0.1}


@pytest.mark.slow
def test_the_report_follows_the_records(tmp_path, monkeypatch, vectors):
    monkeypatch.setattr(_report, "load", lambda name: vectors)
    for folder in ("images", "results"):
        (tmp_path / folder).mkdir()
    text = "start\n<!-- evidence: embeddings-wins -->\n<!-- end -->\nend\n"
    (tmp_path / "adapt_embedding.md").write_text(text)
    records = list(made_up({"seraph": 3.0, "gmml": 5.0, "rca": -2.0, "lda-classifier": 9.0}))
    paths = _report.write(records, tmp_path)
    assert [path.exists() for path in paths] == [True] * 3
    page = (tmp_path / "adapt_embedding.md").read_text()
    assert page.startswith("start\n")
    # 4 numbers of marks on one set and 3 on the other.
    ours, theirs = "7 / 0 (7 / 0)", "0 / 7 (0 / 7)"
    assert f"| pairs at random | RCA | {ours} | {ours} | {ours} |" in page
    assert f"| pairs at random | GMML | {theirs} | {theirs} | {theirs} |" in page
    assert "| labels of each class | LDA as a classifier |  |  | 0 / 6 (0 / 6) |" in page
    results = _report.Results(records)
    brief = _report.in_brief(results).splitlines()
    assert brief[0].startswith("| % | pair AUC, mean of 1 sets | ")
    assert brief[0].endswith(" | 1-NN error, faces, dlib |")
    cells = [
        f"{results.mean('pairs', 100, 'seraph', m, [name]):.1f}"
        for name in results.sets
        for m in ("auc", "map", "error")
    ]
    assert brief[-1] == f"| SERAPH | {' | '.join(cells)} |"
    assert results.sets == ["definitions-minilm", "faces"]
    assert results.complete == ["definitions-minilm"]
    assert results.gain("near", "seraph", "error") == pytest.approx([3.0] * 4, abs=0.01)
    assert _report.losses(results) == "None."
    assert _report.failures(results) == "None."


def test_losses_and_failures_are_listed():
    records = list(made_up({"seraph": -1.0}, samplings=6))
    records[0]["failed"] = "ValueError: too few"
    results = _report.Results(records)
    assert "| faces, dlib | 300 near | MAP@R | -1.0 | " in _report.losses(results)
    assert _report.losses(results).count("\n") == 1 + 3 * (4 + 4 + 3 + 3 + 3 + 3)
    assert "| pairs-40 | 1 | ValueError: too few |" in _report.failures(results)


def test_only_samplings_that_every_method_has_done_count():
    records = list(made_up({}, samplings=3))
    kept = _report.Results(records[:-1]).frame
    assert records[-1]["set"] == "faces"
    assert set(kept[kept["set"] == "faces"]["seed"]) == {0, 1}
    assert set(kept[kept["set"] != "faces"]["seed"]) == {0, 1, 2}
    with pytest.raises(ValueError, match="no records yet"):
        _report.write([], None)
