"""Settings of the documentation: ``make docs`` builds it, with no network and no warnings."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import absent  # noqa: E402

import chsic  # noqa: E402

absent.stand_in()

project = "chsic"
author = "The chsic developers"
copyright = author  # noqa: A001
release = version = chsic.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "doctest_blocks",
    "links",
    "mathml",
    "results",
]
exclude_patterns = ["_ext", "_templates", "images/*.md", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]

# `name` is a link where there is something of that name, and set in italics elsewhere.
default_role = "autolink"
nitpicky = True
# Names without a dot may be those of parameters.
nitpick_ignore_regex = [("py:obj", r"[^.]+")]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
# Files whose names differ in case only are one file on some systems.
autosummary_filename_map = {
    "chsic.Screen": "chsic.Screen-class",
    "chsic.Sensitivity": "chsic.Sensitivity-class",
}
# Types stand in the text, where they are written for people.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("figures.scrape",),
    "reset_modules": (),
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "notebook_images": False,
    "capture_repr": (),
}

html_theme = "pydata_sphinx_theme"
html_title = "chsic"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_show_search_summary = False  # it reads pages, which browsers refuse for files on disk
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"start": [], "how-it-works": [], "gallery/index": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "chsic"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_prev_next": False,
    # Wide tables need the room.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "results/level-and-power": [],
        "results/measures": [],
        "results/speed": [],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
