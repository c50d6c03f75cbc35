"""Find a browser for the tests of ``seraph ask``; install Debian's chromium where that is allowed.

Without one, say in one line that these tests are left out.
"""

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def install() -> None:
    """Install chromium from Debian's packages, if this is root on Debian."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        try:
            subprocess.run(
                ["apt-get", "-qq", *command],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=120,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return


if __name__ == "__main__":
    if find() is None:
        install()
    if find() is None:
        print("No browser here (chromium, google-chrome): the browser tests are left out.")
