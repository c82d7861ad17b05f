"""Figure numbers in the citation of a claim's source, as in `section 4.3, Figures 4.17 to 4.19`."""

import re
from collections.abc import Iterator
from string import ascii_lowercase

_NUMBER = r"(?:[A-Z][.-])?\d+(?:[.-]\d+)*[a-z]?"
_TO = r"\s+to\s+|\s*\N{EN DASH}\s*"
_FIGURES = re.compile(rf"[Ff]ig(?:ure)?s?\.?\s+({_NUMBER}(?:(?:,\s*|,?\s+and\s+|{_TO}){_NUMBER})*)")
_PART = re.compile(rf"({_TO})?({_NUMBER})")
# What counts up in a range: the last digits or, if they are equal, the letter after them.
_LAST = re.compile(r"(.*?)(\d+)([a-z]?)$")
# Maximum number of figures between the ends of a range; further ones are left out.
_MOST = 40


def figures(source: str) -> list[str]:
    """Return the numbers of all figures that a citation names, including those in ranges."""
    return list(dict.fromkeys(_cited(source)))


def _cited(source: str) -> Iterator[str]:
    for citation in _FIGURES.finditer(source):
        before = ""
        for to, number in _PART.findall(citation[1]):
            yield from _between(before, number) if to else ()
            yield number
            before = number


def _between(first: str, last: str) -> Iterator[str]:
    begins, ends = _LAST.match(first), _LAST.match(last)
    if begins and ends and begins[1] == ends[1]:
        numbers = range(int(begins[2]) + 1, int(ends[2]))
        yield from (f"{begins[1]}{number}" for number in numbers[:_MOST])
        if begins[2] == ends[2]:
            letters = (letter for letter in ascii_lowercase if begins[3] < letter < ends[3])
            yield from (f"{begins[1]}{begins[2]}{letter}" for letter in letters)
