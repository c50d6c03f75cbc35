"""Measure how time and memory of a fit grow with the number of points.

``python -m benchmarks.growth run RECORDS --learner seraph --m 16 64 --seconds 60`` appends a line
of JSON for each size, each in a process of its own, until a fit takes longer than `--seconds`.
Learners: seraph, with its defaults and at most 100 labels; seraph-all, the same over all pairs;
nca and lmnn, which are metric-learn's and have a label for every row. ``--device cuda`` fits on a
GPU, ``--device cluster`` on a dask cluster of two workers on this machine; processor time is that
of all processes, and memory the largest one's. Lines of several machines can be joined, as in
growth.jsonl. ``python -m benchmarks.growth draw RECORDS PICTURE`` draws them.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LABELS = 100
NAMES = {
    "seraph": "SERAPH",
    "seraph-all": "all pairs",
    "nca": "NCA (metric-learn)",
    "lmnn": "LMNN (metric-learn)",
}


PLACES = {"cpu": ("", "-o"), "cuda": (", GPU", "--s"), "cluster": (", cluster", "-.D")}
STYLES = {"nca": ":^", "lmnn": ":v"}
# `unlabeled_pairs` of SERAPH.
OURS = {"seraph": "auto", "seraph-all": "all"}


def fitted(learner, X, y, device):
    """Fit a learner with its defaults."""
    if learner in OURS:
        from seraph import SERAPH

        options = {"backend": device} if device.startswith("cuda") else {}
        return SERAPH(unlabeled_pairs=OURS[learner], **options).fit(X, y)
    import metric_learn

    made = {
        "nca": lambda: metric_learn.NCA(random_state=0),
        "lmnn": lambda: metric_learn.LMNN(random_state=0),
    }
    return made[learner]().fit(X, y)


@contextmanager
def workers(device):
    """Yield a function that sums what it measures in this process and in those of a cluster."""
    if device != "cluster":
        yield lambda measure: [measure()]
        return
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield lambda measure: [measure(), *client.run(measure).values()]


def peak():
    """Return the peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(learner, n, m, device):
    """Print the record of one fit."""
    from benchmarks.core import blobs

    X, y = blobs(n, min(LABELS, n // 3) if learner in OURS else n, m)
    X = X.astype("float32") if device.startswith("cuda") else X
    warnings.simplefilter("ignore")
    with workers(device) as everywhere:
        if device == "cluster":
            import dask.array as da

            X = da.from_array(X, chunks=(-(-n // 4), m)).persist()
        if learner in OURS:
            fitted(learner, X[:100], y[:100], device)  # imports, and compiled code
            if n >= 1000:
                fitted(learner, X[:1000], y[:1000], device)
        clock, cpu = time.perf_counter(), sum(everywhere(time.process_time))
        fitted(learner, X, y, device)
        record = {
            "learner": learner,
            "device": device,
            "n": n,
            "m": m,
            "cpu": sum(everywhere(time.process_time)) - cpu,
            "seconds": time.perf_counter() - clock,
            "mb": max(everywhere(peak)),
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
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
    for learner, device in sorted({(r["learner"], r["device"]) for r in records}, reverse=True):
        for color, m in enumerate(widths):
            wanted = learner, device, m
            own = [r for r in records if (r["learner"], r["device"], r["m"]) == wanted]
            own.sort(key=lambda record: record["n"])
            if not own:
                continue
            # A GPU has no processor time of its own: there it is the clock's.
            what = "seconds" if device.startswith("cuda") else "cpu"
            place, style = PLACES[device]
            label = f"{NAMES[learner]}{place}, m = {m}"
            style = STYLES.get(learner, style)
            for axis, key in zip(axes, (what, "mb"), strict=True):
                axis.plot(
                    [r["n"] for r in own],
                    [r[key] for r in own],
                    style,
                    label=label,
                    color=f"C{color}",
                    markersize=4,
                    alpha=1.0 if learner == "seraph" else 0.4,
                )
    _lines(axes[0], records)
    axes[0].set(ylabel="seconds of processor time (GPU: of the clock)")
    axes[1].set(ylabel="peak MB of the process, with all that it imports")
    for axis in axes:
        axis.set(xscale="log", yscale="log", xlabel="points")
        axis.grid(alpha=0.3)
    axes[0].set_ylim(0.03)
    axes[1].set_ylim(100)
    lines, names = axes[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=5, fontsize=7)
    figure.savefig(chosen.picture, dpi=150)


def _lines(axis, records):
    """Draw the straight lines of n and n^2 through a middle size."""
    mine = [r for r in records if r["learner"] == "seraph-all" and r["device"] == "cpu"]
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
