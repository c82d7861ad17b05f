"""Typesetting of the laws of algorithms as equations in HTML."""

import re
from collections.abc import Collection, Sequence
from html import escape

VARIABLES = frozenset(
    {"cwnd", "acked", "ssthresh", "rtt", "srtt", "min_rtt", "max_rtt", "dwnd", "bdp", "alpha", "beta", "gamma", "rho"}
)  # fmt: skip
"""Names in equations that are variables, but not parameters of an algorithm."""
WORDS = frozenset(
    {
        *("peak", "queued", "rate", "target", "gain", "marked", "queueing", "base", "pipe", "sent", "delivered"),
        *("lost", "off", "bandwidth", "gradient", "utility", "spacing", "feedback"),
    }
)  # fmt: skip
"""Words that stand for variables next to an operator, and are plain text elsewhere."""

TOKEN = re.compile(
    r"(?P<power>\^(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[\w.]+))|(?P<name>[A-Za-z]\w*)"
    r"|(?P<sign>\+-|\+=|-=|<=|>=|[*/<>=+])|(?P<minus>(?<= )-(?= )|-(?=\w+ / ))|(?P<other>.)"
)
SIGNS = {"*": "·", "<=": "≤", ">=": "≥", "+-": "±", "-=": "\N{MINUS SIGN}=", "-": "\N{MINUS SIGN}"}


def equations(laws: Sequence[str], parameters: Collection[str]) -> list[str]:
    """Return the lines of an HTML table with a row for each law: its case, and its equation.

    The case is the condition under which the law holds. `parameters` are the names of the
    algorithm's parameters.
    """
    known = VARIABLES | set(parameters)
    rows = []
    for law in laws:
        case, colon, rest = law.partition(": ")
        if not colon or "=" in case:
            case, rest = "", law
        rows.append(f'<tr><th scope="row">{escape(case)}</th><td>{typeset(rest, known)}</td></tr>')
    return ['<table class="law">', *rows, "</table>"]


def typeset(text: str, known: Collection[str]) -> str:
    """Return the equation `text` as HTML; `known` are the names of variables."""
    parts = []
    tokens = list(TOKEN.finditer(text))
    for token in tokens:
        word = token.group()
        if token["power"]:
            inner = word[1:].removeprefix("(").removesuffix(")") if word[1] == "(" else word[1:]
            parts.append(f"<sup>{typeset(inner, known)}</sup>")
        elif token["name"] and (word in known or _is_beside_a_sign(text, token)):
            parts.append(f"<var>{escape(word)}</var>")
        elif token["sign"] or token["minus"]:
            parts.append(escape(SIGNS.get(word, word)))
        else:
            parts.append(escape(word))
    return "".join(parts)


def _is_beside_a_sign(text: str, token: re.Match[str]) -> bool:
    """Return true if `token`, a letter or word, is a variable beside an operator or bracket."""
    if len(token.group()) > 1 and token.group() not in WORDS:
        return False
    before, after = text[: token.start()].rstrip(), text[token.end() :]
    if before[-1:] in tuple("*/=<>+-") or re.match(r"\s*[*/=<>^+(]|\s+-\s", after):
        return True
    # A letter before a comma or a bracket is a variable; a word there may be part of a sentence.
    return len(token.group()) == 1 and (before[-1:] == "(" or bool(re.match(r"[,;)]|$", after)))
