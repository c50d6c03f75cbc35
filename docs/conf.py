"""Settings of the documentation (``make docs``)."""

from docutils import nodes
from sphinx.application import Sphinx

from seraph import __version__

project = "seraph"
author = "The seraph developers"
copyright = "2026, the seraph developers"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
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
autodoc_default_options = {"members": True, "inherited-members": True}
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
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("seraph",),
    "reference_url": {"seraph": None},
    "backreferences_dir": "generated/backreferences",
}

html_theme = "furo"
html_title = f"seraph {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]

# `make linkcheck`
linkcheck_timeout = 20
linkcheck_retries = 2


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
    """Skip what scikit-learn adds to every estimator; api.rst says it once."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn.") else None


def setup(app: Sphinx) -> None:
    """Register the hooks above with Sphinx."""
    app.connect("missing-reference", _link_to_sklearn)
    app.connect("autodoc-skip-member", _skip_members_of_sklearn)
