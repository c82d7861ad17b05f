"""Build of the Rust tests in the mutated copy, and a run of each with all changes switched off."""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutants.copies import COPIES, environment
from tools.mutants.suites import JOBS, Suite, Test, run

Lines = tuple[Path, int, int]
"""A range of lines: the file, its first line and its last line."""


@dataclass(frozen=True)
class Binary:
    """A compiled test program, and the directory of its package."""

    path: str
    folder: Path


def build(packages: Sequence[str]) -> tuple[list[Binary], list[Lines]]:
    """Build the tests of the crates `packages` in the copy.

    Return the test programs, or the lines with compiler errors; one of the two is empty.
    """
    chosen = [f"--package={name}" for name in packages]
    command = ["cargo", "test", "--locked", "--no-run", "--message-format=json", *chosen]
    ended = subprocess.run(
        command,
        cwd=COPIES["rust"],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    messages = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    if not ended.returncode:
        return [binary for message in messages for binary in _binary(message)], []
    errors = [place for message in messages for place in _error(message)]
    if not errors:
        raise SystemExit("the copy does not build")
    return [], errors


def _error(message: dict[str, Any]) -> Iterator[Lines]:
    if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
        for span in message["message"]["spans"]:
            yield Path(span["file_name"]), span["line_start"], span["line_end"]


def _binary(message: dict[str, Any]) -> Iterator[Binary]:
    if message["reason"] == "compiler-artifact" and message["profile"]["test"]:
        yield Binary(message["executable"], Path(message["manifest_path"]).parent)


def suite(binaries: Sequence[Binary]) -> Suite:
    """Return the tests that pass with all changes switched off; each test runs alone.

    Print the names of failed tests, which are left out.
    """
    with ThreadPoolExecutor(JOBS) as pool:
        ran = pool.map(_alone, [test for binary in binaries for test in _tests(binary)])
        return Suite(dict(found for found in ran if found is not None))


def _tests(binary: Binary) -> list[Test]:
    command = ("env", "--chdir", str(binary.folder), binary.path, "--exact")

    def listed(*options: str) -> set[str]:
        lines = run("rust", [*command, "--list", "--format=terse", *options]).stdout.splitlines()
        return {line.removesuffix(": test") for line in lines if line.endswith(": test")}

    home = f"longhaul-{binary.folder.name}"
    return [Test("rust", command, home, name, 0) for name in sorted(listed() - listed("--ignored"))]


def _alone(test: Test) -> tuple[Test, frozenset[int]] | None:
    with tempfile.TemporaryDirectory() as folder:
        reached = Path(folder) / "reached"
        began = time.monotonic()
        ended = run("rust", [*test.command, test.name], MUTANTS_REACHED=str(reached))
        seconds = time.monotonic() - began
        if ended.returncode:
            print(f"left out, as it fails without a change: {test.name}", flush=True)
            return None
        numbers = reached.read_text().split() if reached.exists() else []
    timed = Test(test.language, test.command, test.home, test.name, seconds)
    return timed, frozenset(map(int, numbers))
