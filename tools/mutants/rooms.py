"""Rooms: groups of source files, for which changes are drawn and reported separately."""

import re
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).parents[2]
SUFFIXES = {"rust": ".rs", "python": ".py"}


@dataclass(frozen=True)
class Room:
    """A group of source files, and the tests that run first if one of these files is changed."""

    name: str
    language: str
    roots: tuple[str, ...]
    home: str
    """Package (Rust) or folder (Python) whose tests are run first."""
    share: int
    """Number of changes that are drawn in this group of files, of 160 in all groups."""

    def parts(self) -> dict[str, list[Path]]:
        """Return non-test files by part; each file or subdirectory of a root is a part."""
        parts: dict[str, list[Path]] = {}
        for root in (TREE / root for root in self.roots):
            for file in sorted(root.rglob(f"*{SUFFIXES[self.language]}")):
                first = Path(file.relative_to(root).parts[0]).stem
                if not _is_test(file):
                    parts.setdefault(f"{root.name}/{first}", []).append(file.relative_to(TREE))
        return parts


def _is_test(file: Path) -> bool:
    """Return true for files that are compiled only for tests or are in a directory of tests."""
    return "tests" in (file.stem, *file.parts) or any(map(_is_declared_test, (file, *file.parents)))


def _is_declared_test(module: Path) -> bool:
    above = module.with_name("mod.rs") if module.name else module
    return above.is_file() and module.stem in _TESTS.findall(above.read_text(encoding="utf-8"))


_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub\S* )?mod (\w+);")
_CONGESTION = "crates/congestion/src"
_ENGINE = "crates/engine/src"
ROOMS = [
    Room(
        name="congestion",
        language="rust",
        roots=(f"{_CONGESTION}/algorithms", f"{_CONGESTION}/slow_start"),
        home="longhaul-congestion",
        share=42,
    ),
    Room("tcp", "rust", (f"{_ENGINE}/transport/tcp",), "longhaul-engine", 30),
    Room("queue", "rust", (f"{_ENGINE}/queue",), "longhaul-engine", 24),
    Room("impairments", "rust", (f"{_ENGINE}/network/impairments",), "longhaul-engine", 10),
    Room("scenario", "rust", ("crates/scenario/src",), "longhaul-scenario", 14),
    *(
        Room(name, "python", (f"python/longhaul/{name}",), f"tests/{name}", 10)
        for name in ("analysis", "campaign", "results", "studies")
    ),
]
