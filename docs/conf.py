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
    "sphinx.ext.napoleon",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "results/**"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

# The docstrings tell the types; what scikit-learn adds to every estimator is told once, in api.rst.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
napoleon_use_rtype = False
_SKLEARN_BASES = (
    "BaseEstimator, TransformerMixin, ClassifierMixin, MetaEstimatorMixin, "
    "ClassNamePrefixFeaturesOutMixin"
)
autodoc_default_options = {
    "members": True,
    "inherited-members": _SKLEARN_BASES,
    "exclude-members": "set_fit_request, set_score_request, set_transform_request",
}

# A reference that leads nowhere is an error; those to scikit-learn are made links below.
nitpicky = True

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

# `make linkcheck`: where a site wants a browser, its answer says nothing of the link.
linkcheck_timeout = 20
linkcheck_retries = 2


def _link_to_sklearn(
    app: Sphinx, env: object, node: nodes.Element, content: nodes.TextElement
) -> nodes.reference | None:
    """The page of a class or function of scikit-learn: no inventory, hence no network, needed."""
    name = node.get("reftarget", "")
    if not name.startswith("sklearn."):
        return None
    page = f"https://scikit-learn.org/stable/modules/generated/{name}.html"
    return nodes.reference("", "", content, internal=False, refuri=page)


def setup(app: Sphinx) -> None:
    """Tell Sphinx of what is not a setting."""
    app.connect("missing-reference", _link_to_sklearn)
