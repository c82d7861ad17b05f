"""`python -m tools.mutants`: draw changes of code, test each, and list those not detected."""

import argparse
import random
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tools.mutants import copies, python_tests, rust_tests
from tools.mutants.mutation import Mutation, draw
from tools.mutants.report import (
    EQUIVALENT,
    KILLED,
    NOT_COMPILED,
    NOT_REACHED,
    SURVIVED,
    Outcomes,
    report,
)
from tools.mutants.rooms import ROOMS, Room
from tools.mutants.suites import JOBS, Suite, first_failure
from tools.mutants.syntax import sites

_LIST = Path(__file__).with_name("equivalent.toml")


def main() -> None:
    """Draw changes, test each, and print the report; with `--list` only print the changes."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    names = [room.name for room in ROOMS]
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice")
    parser.add_argument("--count", type=int, default=160, help="changes in all rooms together")
    parser.add_argument("--room", nargs="*", choices=names, help="groups of files (default: all)")
    parser.add_argument("--list", action="store_true", help="draw changes and print them only")
    options = parser.parse_args()
    rooms = [room for room in ROOMS if not options.room or room.name in options.room]
    drawn = _draw(rooms, options.count, options.seed)
    if options.list:
        print(*(f"{mutation.number} {mutation.room}: {mutation}" for mutation in drawn), sep="\n")
        return
    outcomes: Outcomes = {}
    for language in ("rust", "python"):
        chosen = {room.name: room for room in rooms if room.language == language}
        outcomes |= _judge([one for one in drawn if one.room in chosen], chosen, language)
    print(*report(rooms, drawn, outcomes), sep="\n")


def _draw(rooms: Sequence[Room], count: int, seed: int) -> list[Mutation]:
    """Draw `count` changes and number them from 1.

    The changes are distributed over groups of files (rooms) in proportion to their `share`.
    """
    whole = sum(room.share for room in rooms)
    drawn: list[Mutation] = []
    for room in rooms:
        rng = random.Random(f"{seed} {room.name}")
        drawn += draw(room, round(count * room.share / whole), rng, sites)
    return [replace(mutation, number=number) for number, mutation in enumerate(drawn, 1)]


def _judge(drawn: Sequence[Mutation], rooms: dict[str, Room], language: str) -> Outcomes:
    """Return the outcome of each change of one language, by the number of the change.

    Print each outcome as soon as it is known. Changes listed in `equivalent.toml` are not tested.
    """
    reasons = _equivalent()
    outcomes = {mutation.number: EQUIVALENT for mutation in drawn if _key(mutation) in reasons}
    judged = [mutation for mutation in drawn if mutation.number not in outcomes]
    if not judged:
        return outcomes
    homes = sorted({room.home for room in rooms.values()})
    compiled, suite = (_rust if language == "rust" else _python)(judged, homes)
    outcomes |= {mutation.number: NOT_COMPILED for mutation in judged if mutation not in compiled}

    def judge(mutation: Mutation) -> tuple[int, str]:
        return mutation.number, _outcome(mutation, suite, rooms[mutation.room].home)

    with ThreadPoolExecutor(JOBS) as pool:
        return outcomes | dict(pool.map(judge, compiled))


def _outcome(mutation: Mutation, suite: Suite, home: str) -> str:
    tests = suite.of(mutation, home)
    failed = first_failure(tests, mutation.number)
    outcome = KILLED if failed is not None else SURVIVED if tests else NOT_REACHED
    names = ", ".join(test.name for test in tests[:5])
    ran = f"by {failed}" if failed is not None else f"{len(tests)} tests reach it: {names}"
    print(f"{outcome} {ran}\n    {mutation.number} {mutation.room}: {mutation}", flush=True)
    return outcome


def _python(drawn: list[Mutation], homes: Sequence[str]) -> tuple[list[Mutation], Suite]:
    copies.write("python", drawn)
    return drawn, python_tests.suite(homes)


def _rust(drawn: list[Mutation], homes: Sequence[str]) -> tuple[list[Mutation], Suite]:
    """Build a copy of the source tree with those of the mutations `drawn` that compile.

    Return the compiled mutations, and the tests of the packages `homes` that pass with every
    mutation switched off. Raise SystemExit if unchanged code does not compile.
    """
    while True:
        copies.write("rust", drawn)
        binaries, errors = rust_tests.build(homes)
        if not errors:
            return drawn, rust_tests.suite(binaries)
        wrong = [change for change in drawn if any(_meets(change, error) for error in errors)]
        if not wrong:
            raise SystemExit(f"errors where nothing was changed: {errors}")
        for change in wrong:
            print(f"{NOT_COMPILED}\n    {change.number} {change.room}: {change}")
        drawn = [mutation for mutation in drawn if mutation not in wrong]


def _meets(mutation: Mutation, error: rust_tests.Lines) -> bool:
    """Return true if a compiler error is on a line of the change.

    Lines are numbered as in the original file.
    """
    file, first, last = error
    start, end = mutation.lines
    return file == mutation.file and first <= end and start <= last


def _key(mutation: Mutation) -> tuple[str, str, str]:
    return str(mutation.file), mutation.function, mutation.change


def _equivalent() -> dict[tuple[str, str, str], str]:
    """Return the changes that no test can detect, each with the reason."""
    entries = tomllib.loads(_LIST.read_text(encoding="utf-8"))["equivalent"]
    return {(each["file"], each["function"], each["change"]): each["reason"] for each in entries}


main()
