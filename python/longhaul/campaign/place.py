"""Search for the line of a TOML file that sets a key of a scenario."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_QUOTED_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')
_ASSIGNMENT = re.compile(r"\s*([\w.\"-]+)\s*=")


def line_of(text: str, path: str, root: str = "") -> int | None:
    """Return the number of the line that sets a key, or else of the header of the key's table.

    `path` is the key as written in messages, such as `flows.0.count`; `root` is the name of the
    scenario's table. For a key of an inline table, return the line where the inline table begins.
    Return None if no line is found.
    """
    wanted = [*_parts(root), *path.split(".")]
    best, longest = None, 0
    table: list[str] = []
    counts: dict[str, int] = {}
    depth = 0  # of arrays that are open at the end of the line
    for number, line in enumerate(text.splitlines(), start=1):
        is_inside = depth > 0
        brackets = _QUOTED_OR_COMMENT.sub("", line)
        depth += brackets.count("[") - brackets.count("]")
        if is_inside:
            continue
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                counts[header[2]] = counts.get(header[2], -1) + 1
            table = _numbered(table, counts)
            here = table
        elif assignment := _ASSIGNMENT.match(line):
            here = [*table, *_parts(assignment[1])]
        else:
            continue
        if len(here) > longest and wanted[: len(here)] == here:
            best, longest = number, len(here)
    return best if longest > len(_parts(root)) else None


def line_of_value(text: str, path: str, value: str) -> int | None:
    """Return the number of the first line, from the key at `path` on, with `value` in quotes.

    The key may have an array over several lines. If `value` is not found, return the line of the
    key.
    """
    begin = line_of(text, path)
    lines = text.splitlines()[(begin or 1) - 1 :]
    quoted = (f'"{value}"', f"'{value}'")
    for number, line in enumerate(lines, start=begin or 1):
        if any(quotation in line for quotation in quoted):
            return number
    return begin


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip('"') for part in dotted.split(".") if part]


def _numbered(table: list[str], counts: Mapping[str, int]) -> list[str]:
    """Return the path of a table, with an index after each array of tables.

    `counts` has the index of the current entry of each array.
    """
    steps: list[str] = []
    for length in range(1, len(table) + 1):
        steps.append(table[length - 1])
        if (number := counts.get(".".join(table[:length]))) is not None:
            steps.append(str(number))
    return steps


def indexed(path: str, scenario: Mapping[str, Any]) -> str:
    """Return the path of a setting with the flow's index instead of its label."""
    steps = path.split(".")
    flows: Sequence[Mapping[str, Any]] = scenario.get("flows", ())
    labels = [flow.get("label") for flow in flows]
    if steps[0] == "flows" and len(steps) > 1 and steps[1] in labels:
        steps[1] = str(labels.index(steps[1]))
    return ".".join(steps)
