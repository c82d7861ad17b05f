"""Digest of Python code, which identifies values that the code has computed."""

import hashlib
import tokenize
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from pathlib import Path

IGNORED = {tokenize.COMMENT, tokenize.NL}
# A string at the beginning of a statement is a docstring.
BEFORE_STATEMENT = {tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
DOCSTRING = {tokenize.STRING, tokenize.NEWLINE}


def code_digest(files: Iterable[Path]) -> str:
    """Return a digest of Python files that does not depend on docstrings and comments.

    Values in a store are thus computed again if code changes, but not if its documentation does.
    """
    sources = (file.read_bytes() for file in files)
    return hashlib.sha256("\0".join(map(_code, sources)).encode()).hexdigest()


@cache
def _code(source: bytes) -> str:
    """Return the tokens of a file's code, separated by spaces."""
    # Kept by content, because digests are asked for again with each run and figure.
    code: list[str] = []
    before = tokenize.ENCODING
    for token in tokenize.tokenize(BytesIO(source).readline):
        is_docstring = before in BEFORE_STATEMENT and token.type in DOCSTRING
        if not is_docstring and token.type not in IGNORED:
            code.append(token.string)
            before = token.type
    return " ".join(code)
