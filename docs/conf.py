"""The site: Markdown pages, and a reference from docstrings. `scripts/docs` builds it; a warning is an error."""

import sys
from pathlib import Path

import abstain

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "abstain"
author = "The abstain developers"
copyright = author  # noqa: A001, the generator's name for it
version = release = abstain.__version__

extensions = [
    "myst_nb",  # Markdown, and the notebooks as they are stored
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "api",
    "examples",
    "outside",
    "tree",
    "mathml",  # formulas without scripts or fonts
]
exclude_patterns = ["_build"]
suppress_warnings = ["myst.header", "ref.python"]  # a page may begin below level 1; "n" in a type may be many names

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # tests/test_notebooks.py runs them
nb_merge_streams = True
myst_dmath_double_inline = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # types are words, not links: "(n,) array"
napoleon_use_ivar = True
napoleon_attr_annotations = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "abstain"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ("index", "glossary", "comparison")}  # there are none below them
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
