"""Rewriting of links that lead out of `docs`, to copied pages and files for download."""

import re
from pathlib import Path

from tools.site.markdown import DOCS, ROOT

COPIED = {
    ROOT / "CHANGES.md": DOCS / "results/changes.md",
    ROOT / "README.md": DOCS / "index.md",
    **{
        readme: DOCS
        / "results/studies"
        / f"{readme.parent.relative_to(ROOT / 'reproductions/longhaul_studies').as_posix().replace('/', '-')}.md"
        for readme in ROOT.glob("reproductions/longhaul_studies/**/README.md")
    },
}
"""Pages outside `docs` that are copied into the site, with the paths of the copies."""

LINK = re.compile(
    r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#:\s]+)((?:#[^)\s]*)?)\)|(!\[[^\]]*\]\()([^):\s]+)(\))"
)


def rewrite(_app: object, name: str, text: list[str]) -> None:
    """Adapt the links in the page `name` to the site; Sphinx calls this function for each page.

    `text[0]` is the text of the page, which is replaced by the adapted text.
    """
    folder = (DOCS / name).parent
    text[0] = within_site(text[0], folder, folder)


def within_site(text: str, written_for: Path, shown_in: Path) -> str:
    """Return `text` with relative links changed for a page in another directory.

    `text` was written for a page in `written_for` and is shown in `shown_in`. Links to targets that
    the site does not have, such as directories, become plain text.
    """
    up = Path(*[".."] * len(shown_in.relative_to(ROOT).parts))

    def path_of(written: str) -> str | None:
        """Return the path of a link's target in the site; None if the site lacks it."""
        target = (written_for / written).resolve()
        inside = COPIED.get(target, target)
        if inside.is_relative_to(DOCS):
            return "/" + inside.relative_to(DOCS).as_posix()
        if inside.is_dir() or inside.suffix == ".md":
            return None
        return (up / inside.relative_to(ROOT)).as_posix() if inside.exists() else written

    def lead(match: re.Match[str]) -> str:
        label, written, anchor, image, picture, end = match.groups()
        if image:
            return f"{image}{path_of(picture)}{end}"
        if written.startswith("/"):
            return match.group(0)
        path = path_of(written)
        return label if path is None else f"[{label}]({path}{anchor})"

    return LINK.sub(lead, text)
