"""What is shown: pictures, sounds, texts and cells, and no file outside the folder."""

import io

import pytest
from PIL import Image

from seraph._apps.ask._things import Files, RowThings


def picture(path, size=(40, 30), color=(200, 30, 30), **options):
    Image.new("RGB", size, color).save(path, **options)
    return path


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "shown"
    (folder / "deep").mkdir(parents=True)
    picture(folder / "a.png")
    picture(folder / "deep" / "b.JPG", format="JPEG")
    (folder / "c.txt").write_text("some <b>text</b>")
    (folder / "d.wav").write_bytes(b"RIFF")
    (folder / "e.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    picture(tmp_path / "secret.png")
    return folder


def below(root, *ids):
    return RowThings(ids, {}, Files.below(root, ids))


def test_files_are_found_by_their_name_with_or_without_suffix(root):
    ids = ["a.png", "a", "deep/b.JPG", "deep/b", "c", "d.wav", "e"]
    expected = ["image"] * 4 + ["text", "sound", "image"]
    things = below(root, *ids, "nobody")
    assert [things.card(row)["kind"] for row in range(8)] == [*expected, "missing"]


@pytest.mark.parametrize("name", ["../secret.png", "deep/../../secret", "/etc/passwd", "", "page"])
def test_nothing_outside_the_folder_and_no_page_is_found(root, name):
    things = below(root, name)
    assert not things.shown(0)
    assert things.card(0)["kind"] == "missing"
    assert things.picture(0, "large") is None
    assert things.path(0, "sound") is None


def test_pictures_are_scaled_and_turned(root):
    turned = Image.new("RGB", (1500, 600), "white")
    exif = Image.Exif()
    exif[0x0112] = 6  # a camera held upright
    turned.save(root / "big.jpg", exif=exif)
    things = below(root, "big", "a")
    for size, side in (("large", 960), ("small", 160)):
        data, kind = things.picture(0, size)
        image = Image.open(io.BytesIO(data))
        assert max(image.size) == image.height == side
        assert kind == ("image/jpeg" if size == "large" else "image/png")
    data, kind = things.picture(1, "large")
    assert (Image.open(io.BytesIO(data)).size, kind) == ((40, 30), "image/png")


def test_what_is_not_a_picture_or_went_away_is_not_asked_about(root):
    (root / "fake.png").write_bytes(b"<script>alert(1)</script>")
    things = below(root, "fake", "a")
    assert things.shown(0)
    assert things.picture(1, "large") is not None
    (root / "a.png").unlink()
    for row in range(2):
        assert things.picture(row, "large") is None
        assert not things.shown(row)  # now that this is known
        assert things.card(row)["kind"] == "missing"


def test_cells_are_text_and_one_column_alone_is_a_text():
    columns = {"name": ["x", "<i>y</i>"], "size": ["1", "2" * 5000]}
    things = RowThings(["a", "b"], columns)
    card = things.card(1)
    assert card["kind"] == "cells"
    assert card["cells"] == [
        ["name", "<i>y</i>", None],
        ["size", "2" * 2000 + " […] (cut after 2,000 characters)", None],
    ]
    assert things.shown(0)
    assert things.picture(0, "large") is None
    assert things.path(0, "sound") is None
    alone = RowThings(["a"], {"text": ["long"]}).card(0)
    assert (alone["kind"], alone["text"], alone["cells"]) == ("text", "long", [])
