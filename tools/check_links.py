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
    sections: dict[str, set[str]] = {name: set() for name in index["docnames"]}
    for places in index["alltitles"].values():
        for number, anchor in places:
            if anchor is not None:
                sections[index["docnames"][number]].add(anchor)
    found = []
    for name, anchors in sections.items():
        page = pages.get((site / f"{name}.html").resolve())
        if page is None:
            found.append(f"{name}.html (no such page)")
        elif lost := sorted(anchors - page.anchors):
            found.append(f"{name}.html (without the sections {', '.join(lost)} of its source)")
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
    count = f"{len(pages)} pages, {len(lost)} lost, {len(broken)} broken links"
    print("\n".join([*lost, *broken, count]))
    return 1 if lost or broken else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    sys.exit(main(Path(sys.argv[1])))
