"""Recordings of this machine's kernel: `make record-linux`, or `python -m validation.linux.record`.

Needs root, TUN devices and network namespaces, and a machine that is not busy: a recording counts
only if its packets were forwarded in time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from validation.linux.cases import Case
from validation.linux.catalogue import cases
from validation.linux.gold import collect
from validation.linux.kernel import Recording

ROOT = Path(__file__).parent.parent.parent
RECORDINGS = ROOT / "validation" / "out" / "linux"
BUILD = ("cargo", "build", "--quiet", "--release", "--locked", "--package", "longhaul-recorder")
RECORDER = ROOT / "target" / "release" / "longhaul-recorder"

LATE_SHARE = 0.005
"""Largest allowed fraction of packets more than a millisecond late in a recording."""

ATTEMPTS = 3
"""To record a case in time."""

SPARE_S = 20
"""A recorder that takes so much longer than its case has failed."""


def main(arguments: list[str]) -> int:
    """Record the requested cases, and write the converted recordings to `gold`."""
    parser = argparse.ArgumentParser(prog="validation.linux.record", description=__doc__)
    parser.add_argument("prefix", nargs="*", default=[""], help="only cases whose names begin so")
    parser.add_argument("--runs", type=int, default=1, help="recordings of each case (1)")
    parser.add_argument("--keep", action="store_true", help="record, but leave gold as it is")
    parser.add_argument("--collect", action="store_true", help="only write gold from recordings")
    asked = parser.parse_args(arguments)
    if not asked.collect:
        code = record(tuple(asked.prefix), asked.runs)
        if code:
            return code
    if not asked.keep:
        collect(RECORDINGS)
    return 0


def record(prefixes: tuple[str, ...], runs: int) -> int:
    """Record cases that are not there yet; the exit code."""
    subprocess.run(BUILD, cwd=ROOT, check=True)
    able = subprocess.run([RECORDER, "--check"], capture_output=True, text=True, check=False)
    if able.returncode:
        print(able.stderr.strip(), file=sys.stderr)
        return able.returncode
    for run in range(1, runs + 1):
        for case in cases():
            folder = RECORDINGS / case.name / str(run)
            if case.name.startswith(prefixes) and not (folder / "recording.json").exists():
                _record_in_time(case, folder, run)
    return 0


def _record_in_time(case: Case, folder: Path, run: int) -> None:
    """Record a case until its packets were in time, a few times at most."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "case.json"
    file.write_text(json.dumps(case.for_recorder(run), indent=1), encoding="utf-8")
    for _ in range(ATTEMPTS):
        subprocess.run(
            [RECORDER, file, folder], check=True, timeout=case.duration_s + SPARE_S, cwd=ROOT
        )
        recording = Recording.read(folder)
        print(f"{case.name} {run}: {recording.timing()}", flush=True)
        if recording.late_share() <= LATE_SHARE:
            return
    (folder / "recording.json").rename(folder / "late.json")
    print(f"{case.name} {run}: not kept, the machine was too busy", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
