"""Laws of algorithms as equations: variables in italics, exponents raised, signs as they are printed."""

import re
from collections.abc import Collection, Sequence
from html import escape

VARIABLES = frozenset(
    {
        *("cwnd", "acked", "ssthresh", "rtt", "srtt", "min_rtt", "max_rtt", "peak", "queued", "dwnd", "rate"),
        *("target", "gain", "marked", "queueing", "bdp", "base", "pipe", "sent", "delivered", "lost", "off"),
        *("alpha", "beta", "gamma", "rho", "bandwidth", "gradient", "utility", "spacing", "load", "feedback"),
    }
)  # fmt: skip
"""Variables that are not parameters of an algorithm; single letters beside a sign are, too."""

TOKEN = re.compile(
    r"(?P<power>\^(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[\w.]+))|(?P<name>[A-Za-z]\w*)"
    r"|(?P<sign>\+-|\+=|-=|<=|>=|[*/<>=+])|(?P<minus>(?<= )-(?= )|-(?=\w+ / ))|(?P<other>.)"
)
SIGNS = {"*": "·", "<=": "≤", ">=": "≥", "+-": "±", "-=": "\N{MINUS SIGN}=", "-": "\N{MINUS SIGN}"}
SINGLE = re.compile(r"[A-Za-z]$")


def equations(laws: Sequence[str], parameters: Collection[str]) -> list[str]:
    """Return a table in HTML: a row for each law, with the case in which it holds and the equation."""
    known = VARIABLES | set(parameters)
    rows = []
    for law in laws:
        case, colon, rest = law.partition(": ")
        if not colon or "=" in case:
            case, rest = "", law
        rows.append(f'<tr><th scope="row">{escape(case)}</th><td>{typeset(rest, known)}</td></tr>')
    return ['<table class="law">', *rows, "</table>"]


def typeset(text: str, known: Collection[str]) -> str:
    """Return a law as HTML; `known` are the names of variables."""
    parts = []
    tokens = list(TOKEN.finditer(text))
    for token in tokens:
        word = token.group()
        if token["power"]:
            inner = word[1:].removeprefix("(").removesuffix(")") if word[1] == "(" else word[1:]
            parts.append(f"<sup>{typeset(inner, known)}</sup>")
        elif token["name"] and (word in known or _is_letter(text, token)):
            parts.append(f"<var>{escape(word)}</var>")
        elif token["sign"] or token["minus"]:
            parts.append(escape(SIGNS.get(word, word)))
        else:
            parts.append(escape(word))
    return "".join(parts)


def _is_letter(text: str, token: re.Match[str]) -> bool:
    """Return true if a single letter is a variable: beside a sign or a bracket, not an article."""
    if not SINGLE.match(token.group()) or len(token.group()) > 1:
        return False
    before, after = text[: token.start()].rstrip(), text[token.end() :]
    return bool(re.match(r"(\s*[*/=<>^+),;]|\s+-\s|\(|$)", after)) or before[-1:] in tuple(
        "*/=<>+-("
    )
