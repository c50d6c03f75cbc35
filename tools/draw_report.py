"""Draw docs/images/report.png: the report of the first command on docs/command_line.md.

Needs chromium.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from browser import find

DOCS = Path(__file__).parents[1] / "docs"
FIT = "penguins.xlsx --id bird --pairs answers.csv"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        subprocess.run(
            [sys.executable, "-m", "seraph", "fit", *FIT.split(), "--report", str(report), "-q"],
            cwd=DOCS / "data",
            check=True,
        )
        picture = DOCS / "images" / "report.png"
        options = ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=900,1640"]
        command = [find() or "chromium", *options, f"--screenshot={picture}", report.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
