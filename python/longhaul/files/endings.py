"""Suffixes of the files that commands write.

Each command accepts only the suffixes that it can write: an HTML page with the suffix .pdf, for
example, would mislead its readers. A wrong suffix is an error before anything is computed. The
message names the command that writes such files.
"""

from collections.abc import Sequence
from pathlib import Path

from longhaul._engine import LonghaulError

FIGURES = (".svg", ".png", ".pdf")
PAGES = (".html",)
TABLES = (".csv", ".parquet")
ANIMATIONS = (".gif", ".mp4")
SCENARIOS = (".toml",)
DRAWN = "`longhaul plot`, `window`, `analyze` and `model`"
# Suffixes that some command writes; a name with such a suffix is not meant as a directory.
WRITERS = {
    **dict.fromkeys(FIGURES, DRAWN),
    ".html": "`longhaul report`, `explore`, `window`, `campaign report --html` and `study report`",
    ".csv": "`longhaul analyze`, `analyze components --scores`, `design` and `export --format csv`",
    ".parquet": "`longhaul analyze components --scores`; a run has its tables in its directory",
    **dict.fromkeys(ANIMATIONS, "`longhaul animate`"),
    ".json": "`longhaul schema`; most commands print JSON with --json",
    ".qlog": "`longhaul export`",
    ".toml": "`longhaul new`, `campaign new` and `study scenario`",
    ".so": "`longhaul module build`",
}
# Suffixes that users try but no command writes.
UNKNOWN = (".eps", ".ps", ".jpg", ".jpeg", ".webp", ".tiff", ".htm", ".xlsx", ".md")


class EndingError(LonghaulError):
    """Error: a command does not write files with this suffix."""


def check_file(path: Path, allowed: Sequence[str], option: str = "--out") -> Path:
    """Return `path` if its suffix is among `allowed`; otherwise raise an error.

    The message names the command-line `option`.
    """
    if path.suffix not in allowed:
        raise EndingError(f"{option} {path}: expected a name that ends in {either(allowed)}"
                          f"{_elsewhere(path.suffix)}")  # fmt: skip
    return path


def check_directory(path: Path) -> Path:
    """Return `path` as a directory to write; raise an error if it has the suffix of a file.

    An existing directory may have such a suffix.
    """
    if path.suffix in (*WRITERS, *UNKNOWN) and not path.is_dir():
        raise EndingError(f"--out {path}: expected the name of a directory"
                          f"{_elsewhere(path.suffix)}")  # fmt: skip
    return path


def is_file(path: Path, allowed: Sequence[str]) -> bool:
    """Return true if a path names a file to write, false if it names a directory.

    Raise an error for a suffix in `WRITERS` or `UNKNOWN` that is not allowed, except for an
    existing directory. A path with any other suffix names a directory.
    """
    if path.is_dir() or path.suffix not in (*WRITERS, *UNKNOWN):
        return False
    if path.suffix not in allowed:
        raise EndingError(f"--out {path}: expected a directory, or a file that ends in "
                          f"{either(allowed)}{_elsewhere(path.suffix)}")  # fmt: skip
    return True


def check_format(name: str, allowed: Sequence[str]) -> str:
    """Return the suffix of a format: `.pdf` for `pdf`; raise an error if it is not allowed."""
    ending = f".{name.removeprefix('.').lower()}"
    if ending not in allowed:
        names = either([known.removeprefix(".") for known in allowed])
        raise EndingError(f"--format {name}: expected {names}{_elsewhere(ending)}")
    return ending


def either(names: Sequence[str]) -> str:
    """Return names as an alternative in words: `a, b or c`."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _elsewhere(ending: str) -> str:
    """Return a hint that names commands which write files with this suffix, or nothing."""
    return f"; {ending} is written by {WRITERS[ending]}" if ending in WRITERS else ""
