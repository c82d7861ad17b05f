"""Test suites: selection of the tests that reach a change, and the first one to fail."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.mutants.copies import COPIES, environment
from tools.mutants.mutation import Mutation

JOBS = 2
"""Number of processes that run tests in parallel."""
# Maximum number of tests of one process, and total seconds after which no test is added.
_AT_ONCE = 20
_AT_ONCE_S = 2.0
# Additional time of a process: Python's imports take long on a busy machine.
_START_S = {"rust": 30, "python": 300}


@dataclass(frozen=True)
class Test:
    """A test, with the command that runs it, alone or with other tests.

    `home` is the package (Rust) or folder (Python) of the test, and `seconds` its run time on the
    unchanged code.
    """

    language: str
    command: tuple[str, ...]
    home: str
    name: str
    seconds: float


@dataclass(frozen=True)
class Suite:
    """Tests that pass on the unchanged code."""

    reached: dict[Test, frozenset[int]]
    """For each test, the changes (each given by `Mutation.number`) whose code the test executes."""

    def of(self, mutation: Mutation, home: str) -> list[Test]:
        """Return the tests that execute a change, those of package or folder `home` first."""
        tests = [test for test, numbers in self.reached.items() if mutation.number in numbers]
        return sorted(tests, key=lambda test: (test.home != home, test.seconds, test.name))


_FAILED = re.compile(r"^(?:test (\S+) .*FAILED|FAILED (\S+))", re.MULTILINE)


def first_failure(tests: Sequence[Test], number: int) -> str | None:
    """Return the name of the first test that detects change `number`; None if all tests pass.

    A test detects the change if it fails or takes too long. Tests run in groups; if a group takes
    too long, the returned text names only the first test of the group.
    """
    for batch in _batches(tests):
        limit = _START_S[batch[0].language] + 20 * sum(test.seconds for test in batch)
        names = [test.name for test in batch]
        command = [*batch[0].command, *names]
        try:
            ended = run(batch[0].language, command, limit, MUTANT=str(number))
        except subprocess.TimeoutExpired:
            return f"{names[0]}, or another test of its group, which does not end"
        if ended.returncode:
            failed = _FAILED.search(ended.stdout)
            return failed[1] or failed[2] if failed else names[0]
    return None


def _batches(tests: Sequence[Test]) -> Iterator[list[Test]]:
    """Yield groups of successive tests with the same command; a group runs in one process."""
    batch: list[Test] = []
    for test in tests:
        full = len(batch) == _AT_ONCE or sum(other.seconds for other in batch) > _AT_ONCE_S
        if batch and (full or batch[0].command != test.command):
            yield batch
            batch = []
        batch.append(test)
    if batch:
        yield batch


def run(
    language: str, command: Sequence[str], limit: float | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in the source copy for a language, and return its result.

    `variables` are added to its environment. If it takes longer than `limit` seconds, raise
    `subprocess.TimeoutExpired`.
    """
    return subprocess.run(
        command,
        cwd=COPIES[language],
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=limit,
        check=False,
    )
