"""Leases of runs: each has one holder at a time, also after programs were killed."""

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
    """Write the session and the lease that a program on machine `host` left behind.

    The program renewed its session for the last time `age_s` seconds ago.
    """
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
        # Another program removes the session as stale while this one is suspended.
        session.unlink()
        while not session.exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert session.exists()
    assert not session.exists()


def test_a_lease_that_was_taken_over_is_not_released_by_its_first_holder(tmp_path: Path) -> None:
    with Leases(tmp_path) as one, Leases(tmp_path) as other, Leases(tmp_path) as third:
        assert one.acquire("run")
        # Removing the session has the effect of a long suspension of the first program.
        (tmp_path / "sessions" / one.session).unlink()
        assert other.acquire("run")
        one.release("run")
        assert not third.acquire("run")


def claimed(store: Path, sessions: dict[int, str]) -> None:
    """Write a lease that several sessions held in turn, as a numbered file for each session."""
    for generation, session in sessions.items():
        (store / "claims" / f"run.{generation}").write_text(session)


@pytest.mark.parametrize(
    ("generations", "living", "next_one"),
    [((0, 1), 1, None), ((0, 1), 0, 2), ((9, 10), 10, None), ((9, 10), 9, 11)],
)
def test_the_latest_generation_says_who_holds_a_lease(
    tmp_path: Path, generations: tuple[int, ...], living: int, next_one: int | None
) -> None:
    """Check that the latest generation of a lease decides who holds it.

    Generations are compared as numbers: 10 is later than 9. A new holder adds the next one.
    """
    with Leases(tmp_path) as one, Leases(tmp_path) as other:
        names = {n: one.session if n == living else "gone-1-abc" for n in generations}
        claimed(tmp_path, names)
        assert other.is_held("run") == (next_one is None)
        assert other.acquire("run") == (next_one is not None)
        numbers = {int(file.suffix[1:]) for file in (tmp_path / "claims").iterdir()}
        assert numbers == {*generations, *([] if next_one is None else [next_one])}


def test_a_release_removes_its_own_generation_and_those_before(tmp_path: Path) -> None:
    with Leases(tmp_path) as one:
        claimed(tmp_path, {0: "gone-1-abc", 1: "gone-2-abc"})
        assert one.acquire("run")
        claimed(tmp_path, {3: "later-1-abc"})
        one.release("run")
        assert [file.name for file in (tmp_path / "claims").iterdir()] == ["run.3"]


def test_an_empty_lease_is_about_to_be_written_unless_it_is_old(tmp_path: Path) -> None:
    with Leases(tmp_path) as one:
        claimed(tmp_path, {0: ""})
        assert not one.acquire("run")
        then = time.time() - 2 * leases.STALE_S
        os.utime(tmp_path / "claims" / "run.0", (then, then))
        assert one.acquire("run")


def test_of_two_programs_that_create_a_lease_one_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that only one of two programs gets a lease that both try to create.

    Neither has seen the other's lease before it creates its own.
    """
    with Leases(tmp_path) as one, Leases(tmp_path) as other:
        monkeypatch.setattr(other, "_latest", lambda key: None)
        assert one.acquire("run")
        assert not other.acquire("run")
        assert (tmp_path / "claims" / "run.0").read_text() == one.session


@pytest.mark.parametrize(
    ("host", "age_s", "is_kept"),
    [
        (socket.gethostname(), 0.0, False), ("another-host", 0.0, True),
        ("another-host", 2 * leases.STALE_S, False),
    ],
)  # fmt: skip
def test_sessions_of_programs_that_ended_are_removed_at_the_next_start(
    tmp_path: Path, host: str, age_s: float, is_kept: bool
) -> None:
    """Check that a program removes the sessions of programs that have ended.

    A program of another machine has ended if its session was not renewed for long.
    """
    ended_session(tmp_path, host, age_s)
    [old] = (tmp_path / "sessions").iterdir()
    with Leases(tmp_path) as one:
        assert old.exists() == is_kept
        assert one.living() == sorted([one.session, *([old.name] if is_kept else [])])


def test_files_that_are_no_sessions_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / ".nfs0001").touch()
    with Leases(tmp_path) as one:
        assert one.living() == [one.session]
    assert (tmp_path / "sessions" / ".nfs0001").exists()


def test_nobody_works_on_a_store_that_no_program_has_opened(tmp_path: Path) -> None:
    assert Leases(tmp_path / "none").living() == []


def test_a_session_is_stale_once_it_was_not_renewed_for_the_whole_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a session or a lease without a session expires at exactly the age `STALE_S`."""
    with Leases(tmp_path) as one:
        for age_s, is_fresh in ((leases.STALE_S, False), (leases.STALE_S - 1e-6, True)):
            monkeypatch.setattr(leases, "_age_s", lambda file, age_s=age_s: age_s)
            claimed(tmp_path, {0: ""})
            assert (one.is_living(one.session), one.is_held("run")) == (is_fresh, is_fresh)


def test_files_that_another_program_removes_at_the_same_time_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that files which another program removes at the same time cause no error.

    Programs that share a store find the same stale sessions and leases.
    """
    ended_session(tmp_path, socket.gethostname(), 0.0)
    with Leases(tmp_path) as one:
        assert one.acquire("run")
        of = Leases._of

        def removed(leases: Leases, key: str) -> list[Path]:
            files = of(leases, key)
            for file in files:
                file.unlink()
            return files

        monkeypatch.setattr(Leases, "_of", removed)
        one.release("run")
    (tmp_path / "sessions" / "gone-1-abc").touch()

    def is_living(leases: Leases, session: str) -> bool:
        (leases._sessions / session).unlink()
        return False

    monkeypatch.setattr(Leases, "is_living", is_living)
    with Leases(tmp_path) as other:
        assert [file.name for file in (tmp_path / "sessions").iterdir()] == [other.session]
