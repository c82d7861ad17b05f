"""Sphinx's configuration for the site of these pages: `make docs`.

`python -m tools.site` writes the generated pages first: the reference, the gallery, the results.
The site includes theme, icons, search and pictures, so that a browser fetches nothing else.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import longhaul
from tools.site import links

project = "Longhaul"
author = "The developers of Longhaul"
release = version = longhaul.__version__

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
# Copied commands do not include the prompt.
copybutton_prompt_text = "$ "
# Dashes and quotes are not changed, since readers copy commands.
smartquotes = False
source_suffix = {".md": "markdown"}
exclude_patterns = ["images"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4

html_theme = "pydata_sphinx_theme"
html_title = "Longhaul"
html_static_path = ["static"]
html_css_files = ["longhaul.css"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
# Summaries of search results would be fetched, which browsers refuse for local files.
html_show_search_summary = False
# The first page and the playground have no sidebar.
html_sidebars = {"index": [], "playground": []}
html_theme_options = {
    "logo": {"text": "Longhaul"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "playground": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copyright = "the developers of Longhaul; MIT or Apache 2.0"  # noqa: A001 (Sphinx calls it so)
# Blocks without a language are plain text, since they contain prompts and outputs.
highlight_language = "text"


def setup(app: object) -> None:
    """Redirect links to files outside the pages to their copies in the site."""
    app.connect("source-read", links.rewrite)  # type: ignore[attr-defined]
