"""Check the links within a built site: ``python tools/check_links.py docs/_build/html``.

Every ``href``, ``src`` and ``srcset`` within the site must lead to a file that exists and, if it
has a fragment, to an anchor in that file. ``make linkcheck`` checks links to other sites; Sphinx
does not check links in raw HTML and on the gallery's pages.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class Link(NamedTuple):
    """The target of a link and its line."""

    target: str
    line: int


class Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[Link] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect the anchor or the links of a tag."""
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(Link(value, self.getpos()[0]))
            elif name == "srcset":
                sources = [source.split()[0] for source in value.split(",") if source.strip()]
                self.links += [Link(source, self.getpos()[0]) for source in sources]


def broken_links(site: Path) -> list[str]:
    """Return broken links, each as ``page:line: target (what is wrong)``."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links:
            problem = _problem(link.target, path, pages)
            if problem:
                where = path.relative_to(site.resolve())
                found.append(f"{where}:{link.line}: {link.target} ({problem})")
    return found


def _problem(link: str, source: Path, pages: dict[Path, Page]) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return ""


def main(site: Path) -> int:
    pages = list(site.rglob("*.html"))
    if not pages:
        print(f"{site} has no pages: run `make docs` first.")
        return 1
    broken = broken_links(site)
    print("\n".join([*broken, f"{len(pages)} pages, {len(broken)} broken links"]))
    return 1 if broken else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    sys.exit(main(Path(sys.argv[1])))
