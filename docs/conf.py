"""Settings of the documentation (``make docs``)."""

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
myst_enable_extensions = ["dollarmath"]
autosummary_generate = True
suppress_warnings = ["config.cache"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "furo"
html_title = f"seraph {version}"
