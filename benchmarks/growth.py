"""Measure how time and memory of the default fit grow with the number of points.

``python -m benchmarks.growth run RECORDS --learner seraph --m 16 64 --seconds 60`` appends a line
of JSON for each size, each in a process of its own, until a fit takes longer than `--seconds`.
Learners: seraph, with at most 100 labels; nca and lmnn, which are metric-learn's and have a label
for every row. ``--device cuda`` fits on a GPU. Lines of several machines can be joined.
``python -m benchmarks.growth draw RECORDS PICTURE`` draws them.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LABELS = 100
NAMES = {"seraph": "SERAPH", "nca": "NCA (metric-learn)", "lmnn": "LMNN (metric-learn)"}


def fitted(learner, X, y, device):
    """Fit a learner with its defaults."""
    if learner == "seraph":
        from seraph import SERAPH

        options = {} if device == "cpu" else {"backend": "torch", "device": device}
        return SERAPH(**options).fit(X, y)
    import metric_learn

    made = {
        "nca": lambda: metric_learn.NCA(random_state=0),
        "lmnn": lambda: metric_learn.LMNN(random_state=0),
    }
    return made[learner]().fit(X, y)


def one(learner, n, m, device):
    """Print the record of one fit."""
    from benchmarks.core import blobs

    X, y = blobs(n, min(LABELS, n // 3) if learner == "seraph" else n, m)
    X = X.astype("float32") if device != "cpu" else X
    warnings.simplefilter("ignore")
    if learner == "seraph":
        fitted(learner, X[:100], y[:100], device)  # imports, and compiled code
        if n >= 1000:
            fitted(learner, X[:1000], y[:1000], device)
    clock, cpu = time.perf_counter(), time.process_time()
    fitted(learner, X, y, device)
    record = {
        "learner": learner,
        "device": device,
        "n": n,
        "m": m,
        "cpu": time.process_time() - cpu,
        "seconds": time.perf_counter() - clock,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(record))


def run(chosen):
    """Append records until the sizes are done, or a fit takes too long."""
    for m in chosen.m:
        for n in SIZES:
            command = [sys.executable, "-m", "benchmarks.growth", "one", chosen.learner]
            command += [str(n), str(m), chosen.device]
            try:
                found = subprocess.run(
                    command, capture_output=True, text=True, timeout=chosen.limit, check=True
                )
            except subprocess.SubprocessError as error:
                print(f"{chosen.learner}, n = {n}, m = {m}: ended, {type(error).__name__}")
                break
            line = found.stdout.strip().splitlines()[-1]
            print(line, flush=True)
            with chosen.records.open("a") as file:
                file.write(line + "\n")
            if json.loads(line)["cpu"] > chosen.seconds:
                break


def draw(chosen):
    """Draw processor time and memory against the number of points."""
    import matplotlib.pyplot as plt

    records = [json.loads(line) for line in chosen.records.read_text().splitlines()]
    widths = sorted({record["m"] for record in records})
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    styles = {"seraph": "-o", "nca": "--s", "lmnn": ":^"}
    for learner, device in sorted({(r["learner"], r["device"]) for r in records}, reverse=True):
        for color, m in enumerate(widths):
            wanted = learner, device, m
            own = [r for r in records if (r["learner"], r["device"], r["m"]) == wanted]
            own.sort(key=lambda record: record["n"])
            if not own:
                continue
            # A GPU has no processor time of its own: there it is the clock's.
            what = "cpu" if device == "cpu" else "seconds"
            label = NAMES[learner] + ("" if device == "cpu" else ", GPU") + f", m = {m}"
            look = {"color": f"C{color + 3 * (device != 'cpu')}", "markersize": 4}
            for axis, key in zip(axes, (what, "mb"), strict=True):
                axis.plot(
                    [r["n"] for r in own],
                    [r[key] for r in own],
                    styles[learner],
                    label=label,
                    **look,
                )
    _lines(axes[0], records)
    axes[0].set(ylabel="seconds of processor time (GPU: of the clock)")
    axes[1].set(ylabel="peak MB of the process, with all that it imports")
    for axis in axes:
        axis.set(xscale="log", yscale="log", xlabel="points")
        axis.grid(alpha=0.3)
    axes[1].set_ylim(100)
    axes[1].legend(fontsize=7, ncols=2, loc="upper left")
    figure.savefig(chosen.picture, dpi=150)


def _lines(axis, records):
    """Draw the straight lines of n and n^2 through a middle size."""
    mine = [r for r in records if r["learner"] == "seraph" and r["device"] == "cpu"]
    sizes = sorted({r["n"] for r in mine})
    place = sizes[len(sizes) // 2]
    at = min(r["cpu"] for r in mine if r["n"] == place) / 2
    for power, name in ((1, "$n$"), (2, "$n^2$")):
        values = [at * (n / place) ** power for n in sizes]
        axis.plot(sizes, values, color="gray", linewidth=0.8)
        axis.annotate(name, (sizes[-1], values[-1]), color="gray")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.add_argument("records", type=Path)
    command.add_argument("--learner", choices=list(NAMES), default="seraph")
    command.add_argument("--m", type=int, nargs="+", default=[16, 64, 384])
    command.add_argument("--device", default="cpu")
    command.add_argument("--seconds", type=float, default=60.0, help="the longest fit")
    command.add_argument("--limit", type=float, default=600.0, help="end a process after this")
    command.set_defaults(call=run)
    command = commands.add_parser("one")
    for name, kind in (("learner", str), ("n", int), ("m", int), ("device", str)):
        command.add_argument(name, type=kind)
    command.set_defaults(call=lambda c: one(c.learner, c.n, c.m, c.device))
    command = commands.add_parser("draw")
    command.add_argument("records", type=Path)
    command.add_argument("picture", type=Path)
    command.set_defaults(call=draw)
    chosen = parser.parse_args()
    chosen.call(chosen)


if __name__ == "__main__":
    main()
