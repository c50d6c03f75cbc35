"""Read the files of the sets: columns of tables, or things to embed, and their classes.

A reader of a table returns a list of columns, numbers (NaN where missing) or strings (None where
missing), or a data frame if it is untidy; any other reader returns a list of texts, files,
pictures or vectors. All return the classes.
"""

import csv
import email
import gzip
import io
import json
import re
import warnings
import zipfile

import numpy as np
import pandas as pd

from ._packages import Unavailable, fetch, importable

MISSING = ("", "?", "~", "NA", "<null>")
# WordNet's files of nouns: animals, artifacts, bodies, communication, events, feelings, food,
# locations, plants and substances.
NOUNS = (5, 6, 8, 10, 11, 12, 13, 15, 20, 27)


def columns_of(rows, drop=()):
    """Return columns of cells: numbers where every cell is one, categories elsewhere."""
    columns = []
    for k, column in enumerate(zip(*rows, strict=True)):
        cells = [None if cell.strip() in MISSING else cell.strip() for cell in column]
        if k not in drop:
            try:
                columns.append([np.nan if cell is None else float(cell) for cell in cells])
            except ValueError:
                columns.append(cells)
    return columns


# Tables


def read_keel(path):
    """Read a file of the KEEL repository: cells with commas, the class in the last one."""
    lines = path.read_text(encoding="latin-1").splitlines()
    rows = [line.split(",") for line in lines if line.strip() and line[0] != "@"]
    return columns_of([row[:-1] for row in rows]), [row[-1].strip() for row in rows]


def read_csv(path, target, drop=None):
    """Read a table with a title row, separated by commas or tabs; untitled columns go."""
    text = path.read_text(encoding="utf-8")
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    titles, *rows = csv.reader(io.StringIO(text), delimiter=separator)
    titles = [title.strip("'") for title in titles]
    k = titles.index(target)
    dropped = {i for i, title in enumerate(titles) if title in ("", target, drop)}
    return columns_of(rows, dropped), [row[k].strip() for row in rows]


def read_tab(path, target=None, numbers=None):
    """Read a file of Orange: titles, types, flags, rows."""
    titles, types, flags, rows = _tab_lines(path)
    (k,) = (
        i for i, title in enumerate(titles) if (title == target if target else flags[i] == "class")
    )
    dropped = {i for i, flag in enumerate(flags) if flag in ("meta", "class")} | {k}
    columns = columns_of(rows, dropped)
    kept = [i for i in range(len(titles)) if i not in dropped]
    for place, i in enumerate(kept):
        if types[i] not in ("c", "continuous") and titles[i] != numbers:  # coded categories
            cells = [row[i].strip() for row in rows]
            columns[place] = [None if cell in MISSING else cell for cell in cells]
    return columns, [row[k].strip() for row in rows]


def _tab_lines(path):
    csv.field_size_limit(10**8)
    with path.open(encoding="utf-8", newline="") as file:
        titles, types, flags, *rows = csv.reader(file, delimiter="\t")
    pad = [""] * len(titles)
    rows = [(row + pad)[: len(titles)] for row in rows if any(cell.strip() for cell in row)]
    flags = (flags + pad)[: len(titles)]
    return *([cell.strip() for cell in line] for line in (titles, types, flags)), rows


def read_rda(path, target, drop=None, numbers=None):
    """Read a data frame of R; ordered factors are numbers, and so are all with `numbers`."""
    with importable("xarray", "rdata"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old files do not name their encoding
        import rdata

        (frame,) = rdata.read_rda(path).values()
    columns = []
    for title in frame.columns.difference([target, drop], sort=False):
        column = frame[title]
        if str(column.dtype) != "category":
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan).tolist())
        elif column.cat.ordered or numbers:  # the levels are in order
            columns.append([np.nan if code < 0 else float(code) for code in column.cat.codes])
        else:
            columns.append([value if isinstance(value, str) else None for value in column])
    return columns, frame[target].astype(str).tolist()


def read_river(path):
    """Read a compressed table of river: comma-separated, or numbered as in libsvm's files."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0]).decode()
    else:
        text = gzip.decompress(path.read_bytes()).decode()
    if path.name == "banana.zip":
        rows = [line.split() for line in text.splitlines() if line.strip()]
        rows = [[*(cell.partition(":")[2] for cell in row[1:]), row[0]] for row in rows]
    else:
        _, *rows = csv.reader(io.StringIO(text))
    return columns_of([row[:-1] for row in rows]), [row[-1] for row in rows]


def read_frame(path, target, drop=""):
    """Read a CSV file or a pickled data frame as it is, without the rows that lack the target."""
    if path.name.endswith(".pkl.compress"):
        frame = pd.read_pickle(path, compression="xz").drop(columns="rownames")
    else:
        frame = pd.read_csv(path, skipinitialspace=True, low_memory=False)
    frame = frame[frame[target].notna()].drop(
        columns=[title for title in drop.split(",") if title]
    )
    return frame.drop(columns=target), frame[target].astype(str).str.strip().tolist()


def read_columns(path, target, drop=""):
    """Read a data frame as a table: numbers, and categories elsewhere."""
    frame, y = read_frame(path, target, drop)
    columns = []
    for _, column in frame.items():
        if column.dtype.kind in "biuf":
            columns.append(column.astype(np.float64).tolist())
        else:
            columns.append([None if pd.isna(cell) else str(cell) for cell in column])
    return columns, y


def read_series(path):
    """Read time series of one length: numbers with commas, a colon, the class."""
    _, _, data = path.read_text(encoding="utf-8").partition("@data\n")
    rows = [line.rpartition(":") for line in data.splitlines() if line.strip()]
    return columns_of([cells.split(",") for cells, *_ in rows]), [row[-1].strip() for row in rows]


def read_sklearn(name):
    """Return a set of scikit-learn; the digits are pixels in [0, 1]."""
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return (X / 16.0 if name == "digits" else X.T.tolist()), y.tolist()


def read_task(name):
    """Return a task of the paper; rows of pixels, columns of tables."""
    from ..paper._data import is_there, load_task

    if not is_there(name):
        raise Unavailable(f"{name} is fetched by python -m benchmarks.paper fetch.")
    task = load_task(name)
    return (task.X if task.X.shape[1] in (64, 196) else task.X.T.tolist()), task.y.tolist()


# Texts, pictures, sounds and vectors


def read_texts(path, text):
    """Return a column of texts of an Orange file, and the classes."""
    titles, _, flags, rows = _tab_lines(path)
    k, target = titles.index(text), flags.index("class")
    rows = [row for row in rows if row[k].strip()]
    return [row[k] for row in rows], [row[target] for row in rows]


def read_messages(path, text, target):
    """Return a column of texts of a CSV file, and the classes."""
    frame, y = read_frame(path, target)
    return frame[text].tolist(), y


def read_excerpts(folder):
    """Return sentences, and where they are from, as the file says."""
    files = sorted(folder.glob("*_GroundTruth.csv.gz"))
    pairs = [(text, path.name) for path in files for text in pd.read_csv(path)["text"]]
    return [text for text, _ in pairs], [name for _, name in pairs]


def read_species(folder):
    """Return the first English description of each kind of monster, and its first type."""
    texts = pd.read_csv(folder / "pokemon_species_flavor_text.csv").query("language_id == 9")
    texts = texts.groupby("species_id")["flavor_text"].first().str.replace(r"\s+", " ", regex=True)
    types = pd.read_csv(folder / "pokemon_types.csv").query("slot == 1").set_index("pokemon_id")
    return texts.tolist(), types["type_id"].loc[texts.index].tolist()


def read_clothes(folder):
    """Return gray pictures of 28 x 28 pixels, and what they show."""
    pixels, labels = (
        np.frombuffer(gzip.decompress((folder / f"t10k-{name}-ubyte.gz").read_bytes()), np.uint8)
        for name in ("images-idx3", "labels-idx1")
    )
    return list(pixels[16:].reshape(-1, 28, 28)), labels[8:].tolist()


def read_prompts(folder):
    """Return the recordings of a telephone system, and their language, which is the speaker."""
    inside = folder.relative_to(fetch("prompts-en"))
    folders = {name: fetch(f"prompts-{name}") / inside for name in ("en", "es", "fr", "it", "ru")}
    pairs = [(path, name) for name in folders for path in sorted(folders[name].rglob("*.wav"))]
    return [path for path, _ in pairs], [name for _, name in pairs]


def read_fortunes(folder):
    """Return the fortunes of the 20 largest files, and the files' names."""
    files = [path for path in sorted(folder.iterdir()) if not (path.suffix or path.is_symlink())]
    parts = {
        path.name: path.read_text(encoding="utf-8", errors="replace").split("\n%\n")
        for path in files
    }
    largest = sorted(parts, key=lambda name: -len(parts[name]))[:20]
    pairs = [(text.strip(), name) for name in largest for text in parts[name] if text.strip()]
    return [text for text, _ in pairs], [name for _, name in pairs]


def read_emails(folder):
    """Return subjects and first texts of e-mails, and spam or ham."""
    texts, y = [], []
    for path in sorted(folder.rglob("*.txt")):
        message = email.message_from_bytes(path.read_bytes())
        parts = [part for part in message.walk() if part.get_content_maintype() == "text"]
        body = b" ".join(part.get_payload(decode=True) or b"" for part in parts[:1])
        body = re.sub(r"<[^>]*>|\s+", " ", body.decode("latin-1")).strip()
        if body:
            texts.append(f"{message['Subject'] or ''} {body[:4000]}")
            y.append("spam" if path.parent.name.startswith("spam") else "ham")
    return texts, y


def read_emoji_names(path):
    """Return names and tags of emoji, and their groups."""
    entries = [one for one in json.loads(path.read_text(encoding="utf-8")) if "group" in one]
    texts = [", ".join([one["label"], *one.get("tags", [])]) for one in entries]
    return texts, [one["group"] for one in entries]


def read_emoji_pictures(folder):
    """Return pictures of emoji, and their groups."""
    entries = json.loads((folder / "emoji.json").read_text(encoding="utf-8"))
    entries = [one for one in entries if one["has_img_google"]]
    files = [folder / "img/google/64" / one["image"] for one in entries]
    return files, [one["category"] for one in entries]


def read_folders(folder, pattern="*.png"):
    """Return files, and the folders that they are in."""
    files = [path for path in sorted(folder.rglob(pattern)) if not path.is_symlink()]
    groups = [path.relative_to(folder).parts[0] for path in files]
    kept = [i for i, group in enumerate(groups) if group not in ("unsorted", "special")]
    return [files[i] for i in kept], [groups[i] for i in kept]


def read_recordings(folder):
    """Return recordings, and the folders that they are in."""
    return read_folders(folder, "*.ogg")


def read_faces(_):
    """Return the vectors of photographs, and whose they are."""
    from ._faces import embed_faces

    return embed_faces()


def read_definitions(path):
    """Return 100 definitions of each of ten kinds of nouns in WordNet's file, and the kinds."""
    texts = {kind: [] for kind in NOUNS}
    for line in path.read_text(encoding="utf-8").splitlines():
        head, _, gloss = line.partition(" | ")
        fields = head.split(" ")
        if gloss and int(fields[1]) in texts:
            word, definition = fields[4].replace("_", " "), gloss.split('; "')[0].strip()
            text = f"{word}: {definition}"
            if word.islower() and len(text) <= 120:
                texts[int(fields[1])].append(text)
    rng = np.random.default_rng(0)
    pairs = [
        (texts[kind][k], kind)
        for kind in texts
        for k in np.sort(rng.permutation(len(texts[kind]))[:100])
    ]
    return [text for text, _ in pairs], [kind for _, kind in pairs]


READERS = {
    name.removeprefix("read_").replace("_", "-"): function
    for name, function in globals().items()
    if name.startswith("read_")
}
