"""Leases of runs: one holder each, also when programs end without a word."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longhaul.campaign import leases
from longhaul.campaign.leases import Leases


def test_a_run_has_one_holder_until_it_is_released(tmp_path: Path) -> None:
    with Leases(tmp_path) as one, Leases(tmp_path) as other:
        assert one.acquire("run")
        assert not other.acquire("run")
        assert other.is_held("run")
        one.release("run")
        assert not other.is_held("run")
        assert other.acquire("run")
        assert sorted(one.living()) == sorted([one.session, other.session])


def test_leases_end_with_their_program(tmp_path: Path) -> None:
    with Leases(tmp_path) as one:
        assert one.acquire("run")
    with Leases(tmp_path) as other:
        assert not other.is_held("run")
        assert other.acquire("run")


def ended_session(tmp_path: Path, host: str, age_s: float) -> None:
    """Provide a lease of a program that ended, or may have, without ending its session."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in ("sessions", "claims"):
        (tmp_path / name).mkdir()
    session = tmp_path / "sessions" / f"{host}-{gone.pid}-abc"
    session.touch()
    then = time.time() - age_s
    os.utime(session, (then, then))
    (tmp_path / "claims" / "run.0").write_text(session.name)


def test_what_a_killed_program_of_this_machine_held_is_taken_over_at_once(tmp_path: Path) -> None:
    ended_session(tmp_path, socket.gethostname(), 0.0)
    with Leases(tmp_path) as other:
        assert other.acquire("run")
        assert [file.name for file in sorted((tmp_path / "claims").iterdir())] == ["run.0", "run.1"]
        other.release("run")
        assert list((tmp_path / "claims").iterdir()) == []


@pytest.mark.parametrize(
    ("age_s", "held"), [(leases.STALE_S / 2, True), (2 * leases.STALE_S, False)]
)
def test_programs_of_other_machines_are_given_time(
    tmp_path: Path, age_s: float, held: bool
) -> None:
    ended_session(tmp_path, "another-host", age_s)
    with Leases(tmp_path) as other:
        assert other.is_held("run") == held
        assert other.acquire("run") != held


def test_sessions_are_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_S", 0.01)
    with Leases(tmp_path) as one:
        session = tmp_path / "sessions" / one.session
        os.utime(session, (0, 0))
        end = time.monotonic() + 10
        while session.stat().st_mtime == 0 and time.monotonic() < end:
            time.sleep(0.01)
        assert session.stat().st_mtime > 0
    assert not session.exists()


def test_a_lease_that_was_taken_over_is_not_released_by_its_first_holder(tmp_path: Path) -> None:
    with Leases(tmp_path) as one, Leases(tmp_path) as other, Leases(tmp_path) as third:
        assert one.acquire("run")
        # As if the first had slept for long.
        (tmp_path / "sessions" / one.session).unlink()
        assert other.acquire("run")
        one.release("run")
        assert not third.acquire("run")
