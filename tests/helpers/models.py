"""Labels to fit any model on, and the archives that models are saved in."""

import json
import zipfile

from sklearn.base import is_classifier

from seraph import MetricClassifier


def labels_for(model, wine):
    """Labels of some rows; of all, for a plain classifier, to which -1 is a class."""
    _, y_partial, y = wine
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    own = isinstance(last, MetricClassifier)
    return y if is_classifier(last) and not own else y_partial


def rewrite(path, entries, compression=zipfile.ZIP_STORED):
    """Replace some entries of an archive."""
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in (old | entries).items():
            archive.writestr(name, content)
    return path


def read_schema(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("schema.json"))
