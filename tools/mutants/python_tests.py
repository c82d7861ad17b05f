"""Run of the Python tests on the original code: all changes of the code are switched off.

The run records, for each test, the places of changes that the test reaches.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from tools.mutants.suites import JOBS, Suite, Test, run

_PYTEST = (sys.executable, "-m", "pytest", "--quiet", "--exitfirst", "-p", "no:cacheprovider")


def suite(folders: Sequence[str]) -> Suite:
    """Return the tests of `folders` that pass with all changes switched off.

    Print the names of failed tests, which are left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        reached, times = Path(folder) / "reached", Path(folder) / "times.xml"
        options = ["--maxfail=1000", f"--numprocesses={JOBS}", f"--junit-xml={times}"]
        command = [*_PYTEST, *options, "--override-ini=junit_family=xunit1", *folders]
        ended = run("python", command, MUTANTS_REACHED=str(reached))
        if not times.exists():
            raise SystemExit(ended.stdout)
        tests = list(_passed(times))
        notes = reached.read_text(encoding="utf-8").splitlines() if reached.exists() else []
    numbers = _numbers(notes, [test.name for test in tests])
    return Suite({test: frozenset(numbers[test.name]) for test in tests})


def _passed(times: Path) -> Iterable[Test]:
    for case in ElementTree.parse(times).iter("testcase"):
        file = str(case.get("file"))
        name = f"{file}::{case.get('name')}"
        if len(case) and case[0].tag in ("failure", "error"):
            print(f"left out, as it fails without a change: {name}", flush=True)
        elif not len(case) or case[0].tag != "skipped":
            home = "/".join(file.split("/")[:2])
            yield Test("python", _PYTEST, home, name, float(case.get("time", 0)))


def _numbers(notes: Iterable[str], tests: Sequence[str]) -> defaultdict[str, set[int]]:
    """Return, for each test, the identifiers of the mutations in code that the test runs.

    Each note names a mutation and a test. Mutations run by a fixture count for all tests of a file.
    """
    numbers: defaultdict[str, set[int]] = defaultdict(set)
    for note in notes:
        number, _, test = note.partition("\t")
        name, _, stage = test.rpartition(" (")
        file = name.split("::")[0]
        of_file = [other for other in tests if other.startswith(file)]
        for user in [name] if stage == "call)" else of_file:
            numbers[user].add(int(number))
    return numbers
