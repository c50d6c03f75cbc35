"""Checks the links within a built site: ``python tools/check_links.py docs/_build/html``.

Every ``href``, ``src`` and ``srcset`` that is not on another site must lead to a file that exists
and, where it has one, to an anchor of it. Links to other sites are for ``make linkcheck``.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class Link(NamedTuple):
    """A link, and the line that it stands on."""

    target: str
    line: int


class Page(HTMLParser):
    """The anchors of a page, and its links."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[Link] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what a tag has to say."""
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
    """Links that lead nowhere, each as ``page:line: target (what is wrong)``."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links:
            trouble = _trouble(link.target, path, pages)
            if trouble:
                where = path.relative_to(site.resolve())
                found.append(f"{where}:{link.line}: {link.target} ({trouble})")
    return found


def _trouble(link: str, source: Path, pages: dict[Path, Page]) -> str:
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
        print(f"{site} has no page: build the documentation first.")
        return 1
    broken = broken_links(site)
    print("\n".join([*broken, f"{len(pages)} pages, {len(broken)} broken links"]))
    return 1 if broken else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    sys.exit(main(Path(sys.argv[1])))
