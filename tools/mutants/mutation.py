"""Changes of code: random choice, and their insertion behind switches."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tools.mutants.rooms import TREE, Room


@dataclass(frozen=True)
class Mutation:
    """One change of a file, which replaces the bytes from `start` to `end`."""

    file: Path
    function: str
    kind: str
    start: int
    end: int
    mutated: str
    form: str = "expression"
    """Part of the code that is changed.

    It is `expression`, `statement` (which is removed), or `entry` (a return is added at a
    function's beginning).
    """
    room: str = ""
    number: int = 0

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the changed code, from 1."""
        text = (TREE / self.file).read_bytes()
        return text.count(b"\n", 0, self.start) + 1, text.count(b"\n", 0, self.end) + 1

    @property
    def change(self) -> str:
        """Text of the change: code and replacement, for a constant also its line."""
        if self.form == "entry":
            return f"begins with {self.mutated}"
        text = (TREE / self.file).read_bytes()
        code = text[self.start : self.end].decode()
        before, after = (" ".join(part.split()) for part in (code, self.mutated))
        line = text.splitlines()[self.lines[0] - 1].decode().strip()
        within = f" in {line}" if self.kind == "constant" else ""
        return f"{before} -> {after or 'removed'}{within}"

    def __str__(self) -> str:
        return f"{self.file}:{self.lines[0]} `{self.function}` ({self.kind}): {self.change}"


def draw(
    room: Room, count: int, rng: random.Random, sites: Callable[[Path], list[Mutation]]
) -> list[Mutation]:
    """Draw `count` changes in a group of source files (`room`), no two in the same place.

    The draw is uniform at each step: part of the group, function, kind of change, place. `sites`
    returns the possible changes of a file.
    """
    parts = {
        part: [replace(site, room=room.name) for file in files for site in sites(file)]
        for part, files in room.parts().items()
    }
    drawn: list[Mutation] = []
    while len(drawn) < count and any(parts.values()):
        left = parts[rng.choice(sorted(part for part, found in parts.items() if found))]
        for key in (_function, _kind):
            value = rng.choice(sorted({key(site) for site in left}))
            left = [site for site in left if key(site) == value]
        drawn.append(rng.choice(left))
        taken = _place(drawn[-1])
        for part, found in parts.items():
            parts[part] = [site for site in found if _place(site) != taken]
    return drawn


def _function(site: Mutation) -> tuple[str, str]:
    return str(site.file), site.function


def _kind(site: Mutation) -> str:
    return site.kind


def _place(site: Mutation) -> tuple[Path, int, int]:
    return site.file, site.start, site.end


def switched(
    code: bytes, mutations: Iterable[Mutation], switch: Callable[[Mutation, str], str]
) -> str:
    """Return `code` with the text of each mutation's place replaced by `switch(mutation, text)`."""

    def written(start: int, end: int, left: list[Mutation]) -> str:
        text = ""
        while left:
            outer, *left = left
            inner = [site for site in left if site.start < outer.end]
            left = left[len(inner) :]
            text += code[start : outer.start].decode()
            text += switch(outer, written(outer.start, outer.end, inner))
            start = outer.end
        return text + code[start:end].decode()

    return written(0, len(code), sorted(mutations, key=lambda site: (site.start, -site.end)))
