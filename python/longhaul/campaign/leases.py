"""Leases of runs: files that let several processes divide the runs of one store.

A program has a session file, and renews its modification time. For each run in progress, it has a
lease file, which contains the name of the session. Exclusive creation of a file is atomic, also on
network file systems, so only one program gets a run. If a session has ended, or has not been
renewed for some time, other programs may take over its leases. To do so, they try to create the
next generation of the lease file, and again only one of them succeeds.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from longhaul.files.processes import has_ended

RENEW_S = 5.0
# A session is stale after this time in seconds. It exceeds the differences between clocks of
# machines, and the delays of caches in network file systems.
STALE_S = 60.0


class Leases:
    """Leases of one process' runs in progress; a context manager, which ends the leases on exit."""

    def __init__(self, store: Path) -> None:
        self._sessions = store / "sessions"
        self._leases = store / "claims"
        self.session = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        self._held: dict[str, int] = {}
        self._ended = threading.Event()
        self._renewing = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> "Leases":
        for folder in (self._sessions, self._leases):
            folder.mkdir(parents=True, exist_ok=True)
        self._sweep_out()
        (self._sessions / self.session).touch()
        self._renewing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._renewing.join()
        # The remaining leases are stale once their session file is gone.
        (self._sessions / self.session).unlink(missing_ok=True)

    def _renew(self) -> None:
        while not self._ended.wait(RENEW_S):
            try:
                # Restores the file if another program removed it as stale during a suspension.
                (self._sessions / self.session).touch()
            except OSError:
                # If another program takes over now, both execute the run, but its values are stored
                # only once.
                continue

    def acquire(self, key: str) -> bool:
        """Acquire the lease of the run with this key.

        Return false if another live process holds it.
        """
        latest = self._latest(key)
        if latest is not None and self._is_live(latest):
            return False
        generation = 0 if latest is None else _generation(latest) + 1
        try:
            with (self._leases / f"{key}.{generation}").open("x") as file:
                file.write(self.session)
        except FileExistsError:
            return False
        self._held[key] = generation
        return True

    def release(self, key: str) -> None:
        """Give up the lease of a run, finished or not.

        A lease that another process has taken over is left alone.
        """
        own = self._held.pop(key)
        for file in self._of(key):
            if _generation(file) <= own:
                file.unlink(missing_ok=True)

    def is_held(self, key: str) -> bool:
        """Return true if a live process holds the lease of the run."""
        latest = self._latest(key)
        return latest is not None and self._is_live(latest)

    def _of(self, key: str) -> list[Path]:
        """Return a run's lease files: usually none or one, more after takeovers."""
        return list(self._leases.glob(f"{key}.*"))

    def _latest(self, key: str) -> Path | None:
        return max(self._of(key), key=_generation, default=None)

    def _is_live(self, lease: Path) -> bool:
        try:
            session = lease.read_text()
        except FileNotFoundError:
            return False
        # A lease file is empty until its session is written.
        return self.is_living(session) if session else _age_s(lease) < STALE_S

    def is_living(self, session: str) -> bool:
        """Return true if the session exists, was renewed lately, and its process has not ended.

        The end of a process is seen only on its own machine.
        """
        host, process, _ = session.rsplit("-", 2)
        try:
            age = _age_s(self._sessions / session)
        except FileNotFoundError:
            return False
        return age < STALE_S and not has_ended(host, process)

    def _sweep_out(self) -> None:
        """Remove stale session files, and those of killed processes of this machine."""
        for file in self._files():
            if not self.is_living(file.name):
                file.unlink(missing_ok=True)

    def living(self) -> list[str]:
        """Return the names of the sessions of live processes that use this store."""
        return sorted(file.name for file in self._files() if self.is_living(file.name))

    def _files(self) -> Iterator[Path]:
        """Return the session files of the store, without other files, such as .nfs0001."""
        return self._sessions.glob("*-*-*")


def _generation(lease: Path) -> int:
    return int(lease.suffix[1:])


def _age_s(file: Path) -> float:
    return time.time() - file.stat().st_mtime
