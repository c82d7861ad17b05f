"""How Sphinx makes the site of these pages: `make docs`.

`python -m tools.site` writes the generated pages first: the reference, the gallery, the results.
Nothing of the site is fetched when it is read: theme, icons, search and pictures are in it.
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
# A command that is copied has no prompt.
copybutton_prompt_text = "$ "
# Dashes and quotes stay as they are written: commands are pasted.
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
# Summaries of what a search finds would be fetched, which browsers refuse for files.
html_show_search_summary = False
# The first page has no contents beside it, and the playground takes the whole width.
html_sidebars = {"index": [], "playground": []}
html_theme_options = {
    "logo": {"text": "Longhaul"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copyright = "the developers of Longhaul; MIT or Apache 2.0"  # noqa: A001 (Sphinx calls it so)
# Lexers of scenario files and shells take prompts and outputs as they are.
highlight_language = "text"


def setup(app: object) -> None:
    """Links to files beside the pages lead to their copies in the site."""
    app.connect("source-read", links.rewrite)  # type: ignore[attr-defined]
