"""Recordings of this machine's kernel: `make record-linux`, or `python -m validation.linux.record`.

The path of a case is emulated (`longhaul.emulation`); senders and receivers are programs in the two
hosts (`applications.py`). A recording needs root, TUN devices, network namespaces, and an idle
machine. A recording is kept only if at most `LATE_SHARE` of its packets were late.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from longhaul._engine import EmulationError
from longhaul.emulation import Emulation, Program, emulate
from longhaul.running.loading import load
from validation.linux.applications import FIRST_PORT
from validation.linux.cases import Case
from validation.linux.catalogue import cases
from validation.linux.gold import collect
from validation.linux.kernel import Recording
from validation.pages import ROOT

RECORDINGS = ROOT / "validation" / "out" / "linux"

NOT_POSSIBLE = 2
"""Exit code if the machine does not allow recordings."""

LATE_SHARE = 0.005
"""Maximum fraction of packets that may be more than a millisecond late in a recording."""

ATTEMPTS = 3
"""Maximum number of attempts to record a case without too many late packets."""


def main(arguments: list[str]) -> int:
    """Record the requested cases, and write the converted recordings to `gold`.

    Return the exit code, which is `NOT_POSSIBLE` if the emulation failed.
    """
    parser = argparse.ArgumentParser(prog="validation.linux.record", description=__doc__)
    parser.add_argument("prefix", nargs="*", default=[""], help="beginnings of case names (all)")
    parser.add_argument("--runs", type=int, default=1, help="number of recordings of each case (1)")
    parser.add_argument("--keep", action="store_true", help="record, but leave gold as it is")
    parser.add_argument("--collect", action="store_true", help="only write gold from recordings")
    asked = parser.parse_args(arguments)
    if not asked.collect:
        try:
            record(tuple(asked.prefix), asked.runs)
        except EmulationError as error:
            print(error, file=sys.stderr)
            return NOT_POSSIBLE
    if not asked.keep:
        collect(RECORDINGS)
    return 0


def record(prefixes: tuple[str, ...], runs: int) -> None:
    """Record `runs` runs of each case whose name begins with one of `prefixes`.

    Runs that were recorded before are kept, and not recorded again.
    """
    for run in range(1, runs + 1):
        for case in cases():
            folder = RECORDINGS / case.name / str(run)
            if case.name.startswith(prefixes) and not (folder / "recording.json").exists():
                _record_in_time(case, folder, run)


def _record_in_time(case: Case, folder: Path, run: int) -> None:
    """Record a case, up to `ATTEMPTS` times until at most `LATE_SHARE` of the packets are late.

    If all attempts fail, the last `recording.json` is renamed to `late.json`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(ATTEMPTS):
        record_once(case, folder, run)
        recording = Recording.read(folder)
        print(f"{case.name} {run}: {recording.timing()}", flush=True)
        if recording.late_share() <= LATE_SHARE:
            return
    (folder / "recording.json").rename(folder / "late.json")
    print(f"{case.name} {run}: not kept, the machine was too busy", flush=True)


def record_once(case: Case, folder: Path, run: int) -> None:
    """Emulate a case; write its samples and `recording.json` to the directory `folder`.

    `run` is the seed of the emulation. Raises an error if the emulation stops or a program fails.
    """
    described = case.for_applications()
    file = folder / "case.json"
    file.write_text(json.dumps(described, indent=1), encoding="utf-8")
    command = [sys.executable, "-m", "validation.linux.applications"]
    receive = f"cd {shlex.quote(str(ROOT))} && exec {shlex.join([*command, 'receive', str(file)])}"
    send = f"cd {shlex.quote(str(ROOT))} && exec {shlex.join([*command, 'send', str(file)])}"
    shutil.rmtree(folder / "run", ignore_errors=True)
    emulation = emulate(
        load(case.emulated(run)),
        Program("sender", ("/bin/sh", "-c", send)),
        out=folder / "run",
        others=[Program("receiver", ("/bin/sh", "-c", receive))],
        sysctls={f"net.ipv4.{name}": value for name, value in case.all_sysctls.items()},
    )
    if emulation.stopped is not None:
        raise emulation.stopped
    if emulation.failed:
        raise RuntimeError("; ".join(emulation.failed))
    about = _about(case, emulation, json.loads((folder / "sender.json").read_text("utf-8")))
    (folder / "recording.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


def _about(case: Case, emulation: Emulation, sender: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a recording: case, kernel, settings, lateness and load."""
    flows = emulation.results.flows
    ports = [name.rsplit(":", 1)[1].removesuffix("/tcp") for name in flows["name"]]
    completions = dict(zip(ports, flows["completion_s"], strict=True))
    return {
        "case": {"name": case.name, "sysctls": dict(case.all_sysctls)},
        "kernel": emulation.circumstances["kernel"],
        "lateness": emulation.circumstances["lateness"],
        "ticks": emulation.circumstances["processor_ticks"],
        "completion_s": [
            completions.get(str(FIRST_PORT + number)) if flow.size_bytes is not None else None
            for number, flow in enumerate(case.flows)
        ],
        "sysctls": sender["sysctls"],
        "counters": {"senders": sender["counters"]},
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
