"""Check the pages and the links of a built site: ``python tools/check_links.py docs/_build/html``.

Every source page must be in the site, with all of its sections. Every ``href``, ``src`` and
``srcset`` within the site must lead to a file that exists and, if it has a fragment, to an anchor
in that file. ``make linkcheck`` checks links to other sites; Sphinx does not check links in raw
HTML and on the gallery's pages.
"""

import json
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
    """The title, the anchors and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[Link] = []
        self.title = ""
        self._in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect the anchor or the links of a tag."""
        self._in_title = self._in_title or tag == "h1"
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

    def handle_endtag(self, tag: str) -> None:
        """Notice where the title ends."""
        self._in_title = self._in_title and tag != "h1"

    def handle_data(self, data: str) -> None:
        """Collect the title."""
        if self._in_title:
            self.title += data


def read_pages(site: Path) -> dict[Path, Page]:
    """Return the pages of a site by their resolved path."""
    return {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}


def lost_pages(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Return the source pages that the site does not show, each as ``page (what is wrong)``.

    Sphinx's index of the sources has them all. A page may be lost all the same: Sphinx writes
    pages of its own, such as ``search.html``, in the place of a page with that name.
    """
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = [
        f"{name}.html (no such page)"
        for name in index["docnames"]
        if (site / f"{name}.html").resolve() not in pages
    ]
    for heading, places in index["alltitles"].items():
        for number, anchor in places:
            name = index["docnames"][number]
            page = pages.get((site / f"{name}.html").resolve())
            # The title of a page has no anchor.
            if page and not (heading in page.title if anchor is None else anchor in page.anchors):
                found.append(f"{name}.html (without {heading!r}, which its source has)")
    return found


def broken_links(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Return broken links, each as ``page:line: target (what is wrong)``."""
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
    pages = read_pages(site)
    if not pages:
        print(f"{site} has no pages: run `make docs` first.")
        return 1
    lost, broken = lost_pages(site, pages), broken_links(site, pages)
    count = f"{len(pages)} pages, {len(lost)} lost pages or headings, {len(broken)} broken links"
    print("\n".join([*lost, *broken, count]))
    return 1 if lost or broken else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    sys.exit(main(Path(sys.argv[1])))
