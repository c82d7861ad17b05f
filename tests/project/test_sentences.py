"""First words of docstrings and doc comments: a verb phrase or a noun phrase, never a clause."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLAUSE = re.compile(r"(What|Whether|How|Where|Which)\b")
RUST_DOC = re.compile(r"\s*//[/!](?!/) ?(.*)")


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of all docstrings, those of fields and constants included."""
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(doc))):
                    yield statement.lineno, doc.strip()


def doc_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of the first line of each doc comment."""
    before = None
    for number, line in enumerate(text.splitlines(), 1):
        found = RUST_DOC.match(line)
        if found and not before:
            yield number, found[1]
        before = found


def clauses(files: str) -> list[str]:
    """Return the file, line number and first line of each docstring that begins with a clause.

    `files` is a glob pattern. A clause begins with a question word.
    """
    return [
        f"{file.relative_to(ROOT)}:{line}: {doc.splitlines()[0]}"
        for file in sorted(ROOT.glob(files))
        for line, doc in (docstrings if file.suffix in {".py", ".pyi"} else doc_comments)(
            file.read_text(encoding="utf-8")
        )
        if CLAUSE.match(doc)
    ]


@pytest.mark.parametrize(
    "files",
    [
        "python/longhaul/**/*.py",
        "python/longhaul/*.pyi",
        "reproductions/**/*.py",
        "crates/*/src/**/*.rs",
    ],
)
def test_comments_begin_with_their_subject(files: str) -> None:
    found = clauses(files)
    assert not found, "\n".join(["begin with a verb or a noun instead:", *found])


def test_clauses_are_found() -> None:
    python = (
        'class A:\n    x: int\n    """Whether it is."""\n\n    def f(self):\n        """Which."""\n'
    )
    assert [doc for _, doc in docstrings(python)] == ["Whether it is.", "Which."]
    rust = "//! How.\n//! Where it goes on.\n\n//// What.\nlet a = 1; // What.\n    /// Whatever.\n"
    assert list(doc_comments(rust)) == [(1, "How."), (6, "Whatever.")]
    assert [bool(CLAUSE.match(doc)) for _, doc in doc_comments(rust)] == [True, False]
