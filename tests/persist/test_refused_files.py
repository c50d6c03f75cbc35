"""Model files: what is not trusted is neither saved nor loaded, and what is damaged is refused."""

import functools
import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import seraph
from seraph import SERAPH, KernelSERAPH, MetricClassifier, persist
from tests.helpers.models import read_schema, rewrite


def kernel_of_mine(x, y):
    return float(x @ y)


class MySERAPH(SERAPH):
    pass


class Fold(NamedTuple):
    low: float
    high: float


def in_place_of_attribute(path, name, node):
    """Replace one attribute in the schema of a file by `node`."""
    schema = read_schema(path)
    schema["content"]["content"][name] = node
    return rewrite(path, {"schema.json": json.dumps(schema)})


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("seraph.classic", "SERAPH"),  # the class lives elsewhere
        ("seraph.persist", "os"),
        ("seraph._seraph", "SERAPH"),  # where it lives is private
    ],
)
def test_a_class_is_found_in_its_public_module_only(module, name, file):
    schema = read_schema(file)
    schema["__module__"], schema["__class__"] = module, name
    with pytest.raises(ValueError, match=rf"is not loaded: it holds {module}\.{name}"):
        seraph.load(rewrite(file, {"schema.json": json.dumps(schema)}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["schema.json", "versions.json", "photo.txt"])
def test_an_archive_with_two_entries_of_one_name_is_refused(name, file):
    with zipfile.ZipFile(file, "a") as archive:
        content = archive.read(name) if name in archive.namelist() else b""
        for _ in range(2 if not content else 1):
            archive.writestr(name, content)
    for read in (seraph.load, persist.read_versions):
        with pytest.raises(ValueError, match="two of its entries have the same name"):
            read(file)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (KernelSERAPH(kernel=kernel_of_mine), "its kernel holds a builtins.function"),
        (KernelSERAPH(kernel=functools.partial(kernel_of_mine)), "kernel holds a functools"),
        (KernelSERAPH(kernel_params={"f": len}), "kernel_params.f holds a builtins.builtin_f"),
        (SERAPH(callback=print), "its callback holds a builtins.builtin_function_or_method"),
        (SERAPH(lam=np.longdouble(1.0)), "its lam holds a numpy.longdouble"),
        (KernelSERAPH(SERAPH(callback=io.StringIO())), r"its learner\.callback holds a _io\."),
        (make_pipeline(FunctionTransformer(abs), SERAPH()), "func holds a builtins.builtin_f"),
        (MetricClassifier(RandomForestClassifier()), "RandomForestClassifier"),
        (MySERAPH(), r"This MySERAPH cannot be saved: it is a \S*MySERAPH"),
        ({"a": SERAPH()}, "model must be an estimator"),
        (SERAPH, "model must be an estimator"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_type_that_is_not_trusted_is_not_saved(model, found, tmp_path):
    path = tmp_path / "model.skops"
    path.write_text("what was there")
    with pytest.raises(ValueError, match=found):
        seraph.save(model, path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_saving_needs_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        seraph.save(SERAPH(), tmp_path / "nowhere" / "model.skops")


def test_a_missing_file_is_named(tmp_path):
    for read in (seraph.load, persist.read_versions):
        with pytest.raises(FileNotFoundError, match=r"nothing\.skops"):
            read(tmp_path / "nothing.skops")


NO_MODEL = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
SCHEMAS = [
    b"", b"[]", b"17", b"not json", b"\xff\xfe", b"{}", b'{"protocol": 2}', b"[" * 100_000,
    b'{"protocol": "two", "__loader__": "ListNode"}', b'{"__loader__": []}',
    b'{"__loader__": "ListNode", "__module__": [], "__class__": {}}',
    json.dumps(NO_MODEL | {"protocol": 2}).encode(),
]  # fmt: skip
NESTED = ("[" * 10**5 + "]" * 10**5, '{"a":' * 10**5 + "1" + "}" * 10**5)
PHOTOS = io.BytesIO()
with zipfile.ZipFile(PHOTOS, "w") as photos:
    photos.writestr("photo.txt", "a photo")
# What stands in a file, whole or in place of some of its entries, where a model should be.
UNREADABLE = {
    "an archive of something else": PHOTOS.getvalue(),
    "empty": b"",
    "cut off": b"PK",
    "a table": b"a table, 1, 2",
    "a pickle": b"\x80\x04K\x01.",
    "an odd array": {"array": b"no array"},
    "no versions": {"versions.json": b""},
    "a list of versions": {"versions.json": b"[1]"},
    "versions in bytes": {"versions.json": b"\xff"},
    **{f"nested {n[:1]} {k}": {k: n} for n in NESTED for k in ("versions.json", "schema.json")},
    **{f"schema {str(text)[:30]}": {"schema.json": text} for text in SCHEMAS},
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_model_file_is_refused_by_name(what, file):
    content = UNREADABLE[what]
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        rewrite(file, {array_in(file) if k == "array" else k: v for k, v in content.items()})
    with pytest.raises(ValueError, match=r"learner\.skops (cannot be read|.* holds)"):
        seraph.load(file)
    if isinstance(content, bytes) or "versions.json" in content:
        with pytest.raises(ValueError, match=r"learner\.skops cannot be read"):
            persist.read_versions(file)


def test_a_truncated_file_is_refused(file):
    whole = file.read_bytes()
    for length in np.linspace(0, len(whole) - 1, 50).astype(int):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"learner\.skops"):
            seraph.load(file)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RandomForestClassifier(2), "sklearn.ensemble._forest.RandomForestClassifier"),
        (make_pipeline(FunctionTransformer(abs), SERAPH()), "builtins.abs"),
        ([SERAPH(verbose=functools.partial(print))], "functools.partial"),
        (MySERAPH(), "MySERAPH"),
    ],
    ids=["forest", "function", "partial", "subclass"],
)
def test_a_file_with_other_types_is_refused_by_name(model, name, tmp_path):
    path = tmp_path / "stranger.skops"
    skops.io.dump(model, path)
    with pytest.raises(ValueError, match=name) as caught:
        seraph.load(path)
    assert str(path) in str(caught.value)


def test_a_file_cannot_call_a_function_under_a_trusted_name(file):
    text = {"__module__": "builtins", "__class__": "str", "__loader__": "JsonNode"}
    arguments = {
        "__module__": "builtins",
        "__class__": "tuple",
        "__loader__": "TupleNode",
        "content": [text | {"content": '"x"'}],
    }
    whole = file.read_bytes()
    for loader in ("OperatorFuncNode", "MethodNode", "FunctionNode", "PartialNode", "CachedNode"):
        file.write_bytes(whole)
        node = {
            "__module__": "builtins",
            "__class__": "str",
            "__loader__": loader,
            "attrs": arguments,
            "content": {"func": "format", "obj": text | {"content": '"x"'}},
        }
        with pytest.raises(ValueError, match=r"learner\.skops is not loaded: it holds builtins"):
            seraph.load(in_place_of_attribute(file, "verbose", node))


# Attributes of a model of neighbors that contradict the others.
CONTRADICTIONS = {
    "_y": lambda model: model._y[:5],  # compiled code would read past the end
    "classes_": lambda model: model.classes_[:2],  # compiled code would count beyond its table
    "_fit_X": lambda model: model._fit_X[:, 1:],
    "n_samples_fit_": lambda model: 10**6,
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_neighbors_that_contradict_each_other_are_neither_saved_nor_loaded(name, wine, tmp_path):
    model = KNeighborsClassifier(algorithm="brute").fit(wine[0], wine[2])
    setattr(model, name, CONTRADICTIONS[name](model))
    path = tmp_path / "short.skops"
    with pytest.raises(ValueError, match=r"KNeighborsClassifier cannot be saved.*Fit it again"):
        seraph.save(model, path)
    assert not list(tmp_path.iterdir())
    skops.io.dump(model, path)
    with pytest.raises(ValueError, match=r"short\.skops cannot be read"):
        seraph.load(path)


def deflate(path, name, content, declared=None):
    """Replace an entry of an archive by one that shrinks, perhaps with a false size."""
    rewrite(path, {name: b""})
    with zipfile.ZipFile(path) as archive:
        old = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, old_content in (old | {name: content}).items():
            archive.writestr(entry, old_content)
        if declared is not None:
            archive.getinfo(name).file_size = declared
    return path


def array_in(path):
    with zipfile.ZipFile(path) as archive:
        return next(name for name in archive.namelist() if name.endswith(".npy"))


def zeros(n):
    content = io.BytesIO()
    np.save(content, np.zeros(n))
    return content.getvalue()


@pytest.mark.parametrize("name", ["versions.json", "schema.json", "array", "photo.txt"])
def test_a_file_that_unpacks_to_too_much_is_refused_before_it_is_read(name, file):
    deflate(file, array_in(file) if name == "array" else name, b" ", declared=2**29)
    for read in (seraph.load, persist.read_versions):
        with pytest.raises(ValueError, match=r"learner\.skops cannot be read.*unpack to"):
            read(file)


def test_no_more_is_unpacked_than_the_archive_declares(file):
    deflate(file, "versions.json", b" " * 2**27, declared=100)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"learner\.skops cannot be read"):
            seraph.load(file)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_a_file_cannot_load_one_array_a_thousand_times(file):
    schema = read_schema(file)
    attributes = schema["content"]["content"]
    node = attributes["components_"]
    attributes |= {f"components_{i}": node | {"__id__": -i} for i in range(1200)}
    rewrite(file, {"schema.json": json.dumps(schema)})
    deflate(file, node["file"], zeros(2**15))
    with pytest.raises(ValueError, match=r"learner\.skops cannot be read.*unpack to"):
        seraph.load(file)


def test_a_device_that_never_ends_is_refused():
    for device in ("/dev/zero", "/dev/full"):
        if Path(device).exists():
            with pytest.raises(ValueError, match=f"{device} cannot be read"):
                seraph.load(device)
