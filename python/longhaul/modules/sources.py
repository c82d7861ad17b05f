"""Analysis of a kernel module's sources: the headers and the macros that its build needs."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# Macros for data that take time to collect, by the names with which a module uses them.
ASKS = {
    "LONGHAUL_TIMESTAMPS": re.compile(r"\brcv_ts(val|ecr)\b"),
    "LONGHAUL_FLIGHTS": re.compile(
        r"\b(tx_in_flight|skb_marked_lost|prior_lost)\b|\b(rs|sample|rate)->(lost|delivered_ce)\b"
    ),
}


def read_all(sources: Sequence[Path]) -> dict[Path, str]:
    """Return the texts of sources, and of files that they include from their directory."""
    texts: dict[Path, str] = {}
    waiting = list(sources)
    while waiting:
        file = waiting.pop(0)
        if file in texts:
            continue
        texts[file] = file.read_text(encoding="utf-8", errors="replace")
        included = (name for mark, name in INCLUDE.findall(texts[file]) if mark == '"')
        waiting += [near for name in included if (near := file.parent / name).is_file()]
    return texts


def headers(texts: Iterable[str]) -> set[str]:
    """Return the names of kernel headers that the texts include, such as `net/tcp.h`."""
    found = (name for text in texts for mark, name in INCLUDE.findall(text) if mark == "<")
    return {name for name in found if ".." not in name and not name.startswith("/")}


def macros(texts: Iterable[str]) -> list[str]:
    """Return preprocessor macros for properties that the sources of a module reveal.

    A property is a kind of data that the module reads, such as timestamps, or the signature of its
    function `cong_control`.
    """
    whole = "\n".join(texts)
    asked = [name for name, pattern in ASKS.items() if pattern.search(whole)]
    if _takes_flag(whole):
        asked.append("LONGHAUL_CONG_CONTROL_TAKES_FLAG")
    return asked


def _takes_flag(text: str) -> bool:
    """Return true if cong_control has four arguments, as in Linux 6.10 and later."""
    assigned = re.search(r"\.\s*cong_control\s*=\s*(\w+)", text)
    if assigned is None:
        return False
    heads = re.findall(rf"\b{assigned[1]}\s*\(([^)]*)\)\s*\{{", text)
    return bool(heads) and all(head.count(",") == 3 for head in heads)
