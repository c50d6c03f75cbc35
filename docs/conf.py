"""Settings of the documentation (``make docs``)."""

import inspect
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

import seraph
from seraph import __version__

REPOSITORY = "https://github.com/seraph-learn/seraph"
project = "seraph"
author = "The seraph developers"
copyright = "2026, the seraph developers"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "sphinx-mathjax-offline",  # formulas without a network
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "results/**"]
templates_path = ["_templates"]
smartquotes = False  # "auto" can be copied, “auto” cannot
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

# The copy button leaves out prompts, and what is printed below them.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"  # the docstrings give the types
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}  # inherited ones: see _templates
autosummary_generate = True
numpydoc_show_class_members = False  # autodoc lists them, each with its docstring
nitpicky = True  # a broken reference is an error

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "subsection_order": ["../examples/jobs", "../examples/learning", "../examples/pictures", "*"],
    "within_subsection_order": "FileNameSortKey",
    "first_notebook_cell": f'%pip install -q "seraph-learn[plot,tables] @ git+{REPOSITORY}"',
    "doc_module": ("seraph",),
    "reference_url": {"seraph": None},
    "backreferences_dir": "generated/backreferences",
}

html_theme = "furo"
html_theme_options = {"top_of_page_buttons": []}  # they lie outside the landmarks
html_title = f"seraph {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]

# `make linkcheck`
linkcheck_timeout = 20
linkcheck_retries = 2


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return where on GitHub a name is defined, whatever public module it claims to be of."""
    name = info["fullname"].rpartition(".")[2]
    try:
        thing = attrgetter(info["fullname"])(import_module(info["module"]))
    except AttributeError:  # set by fit
        return None
    parts = vars(thing).values() if inspect.isclass(thing) else [getattr(thing, "fget", thing)]
    root = Path(seraph.__file__).parents[1]
    for part in map(inspect.unwrap, filter(callable, parts)):
        path = Path(getattr(getattr(part, "__code__", None), "co_filename", ""))
        if path.is_relative_to(root):
            lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            here = (k for k, line in lines if re.match(rf" *(class|def) {name}\b", line))
            return f"{REPOSITORY}/blob/main/src/{path.relative_to(root)}#L{next(here, 1)}"
    for path in sorted((root / "seraph").rglob("*.py")):  # classes without a method of their own
        lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if found := [k for k, line in lines if re.match(rf"class {name}\b", line)]:
            return f"{REPOSITORY}/blob/main/src/{path.relative_to(root)}#L{found[0]}"
    return None


def _link_to_sklearn(
    app: Sphinx, env: object, node: nodes.Element, content: nodes.TextElement
) -> nodes.reference | None:
    """Link to scikit-learn's page without an inventory, which would need a network."""
    name = node.get("reftarget", "")
    if not name.startswith("sklearn."):
        return None
    page = f"https://scikit-learn.org/stable/modules/generated/{name}.html"
    return nodes.reference("", "", content, internal=False, refuri=page)


def _skip_members_of_sklearn(
    app: Sphinx, what: str, name: str, member: object, skip: bool, options: object
) -> bool | None:
    """Skip what every estimator of scikit-learn has, which api.rst says once, and every widget."""
    common = name in {"get_params", "set_params", "get_metadata_routing"}
    home = str(getattr(member, "__module__", "")).partition(".")[0]
    return True if common or home in {"sklearn", "anywidget", "ipywidgets", "traitlets"} else None


# What screen readers and keyboards miss in the pages of the theme.
ACCESSIBLE = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<th class="head"><p></p></th>': "<td></td>",
    "<pre>": '<pre tabindex="0">',
    "\n\n</pre>": "\n</pre>",  # the empty line that ends a doctest
}


def _make_accessible(app: Sphinx, error: Exception | None) -> None:
    """Mend the HTML of the theme."""
    for page in Path(app.outdir).rglob("*.html"):
        text = mended = page.read_text(encoding="utf-8")
        for before, after in ACCESSIBLE.items():
            mended = mended.replace(before, after)
        if mended != text:
            page.write_text(mended, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the hooks above with Sphinx."""
    app.connect("build-finished", _make_accessible)
    app.connect("missing-reference", _link_to_sklearn)
    app.connect("autodoc-skip-member", _skip_members_of_sklearn)
