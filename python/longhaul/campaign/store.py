"""The store of finished runs: a small file for each run, renamed into place atomically."""

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longhaul import _engine
from longhaul._engine import LonghaulError, Scenario
from longhaul.files.processes import has_ended
from longhaul.files.writing import remove_unfinished, write_durably

# Kept values of a run by name: lists of rows, and dictionaries such as the facts in `run`.
Kept = dict[str, Any]


class Store:
    """Directory of finished runs, found by results version and hash of the scenario.

    Several programs on several machines may use a store at the same time. Methods take a run's
    scenario, or the hash of the scenario. Stores with different `variant` keep different
    selections of a run's values.
    """

    def __init__(self, path: str | Path, variant: str = "") -> None:
        self.path = Path(path)
        self.variant = variant
        version = _engine.results_version()
        self._runs = self.path / f"results-{version}"
        self._failures = self.path / f"failed-{version}"
        self._checkpoints = self.path / f"resumable-{version}"
        self._workshop = self.path / "under-way"

    def _name(self, run: Scenario | str) -> str:
        """Return the name of the file with the values of a run."""
        key = run if isinstance(run, str) else run.hash
        return f"{key}-{self.variant}" if self.variant else key

    def _file(self, run: Scenario | str) -> Path:
        name = self._name(run)
        return self._runs / name[:2] / f"{name}.json"

    def has(self, run: Scenario | str) -> bool:
        """Return true if the values of a run are stored."""
        return self._file(run).is_file()

    def get(self, run: Scenario | str) -> Kept | None:
        """Return the stored values of a run; None if there are none."""
        file = self._file(run)
        try:
            kept: Kept = json.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise LonghaulError(f"{file}: cannot be read ({error}); remove it") from None
        return kept

    def put(
        self, run: Scenario | str, kept: Kept, tables: Mapping[str, bytes] | None = None
    ) -> None:
        """Store `kept`, the values of a run, atomically.

        `tables` are Parquet files by name; they are stored before the values.
        """
        file = self._file(run)
        for name, content in (tables or {}).items():
            write_durably(self.table(run, name), content)
        write_durably(file, json.dumps(kept, separators=(",", ":")).encode())

    def table(self, run: Scenario | str, name: str) -> Path:
        """Return the path of the file with a stored table of a run."""
        return self.tables(run) / f"{name}.parquet"

    def tables(self, run: Scenario | str) -> Path:
        """Return the path of the directory with the stored tables of a run."""
        return self._file(run).with_suffix("")

    def record_failure(self, key: str, message: str) -> None:
        """Record that a run failed, with the reason `message`; success removes the record."""
        text = json.dumps({"message": message})
        write_durably(self._failure(key), text.encode())

    def failure(self, key: str) -> tuple[float, str] | None:
        """Return the time (seconds since the epoch) and message of a run's last failure.

        Return None if there is no record of a failure.
        """
        file = self._failure(key)
        try:
            return file.stat().st_mtime, str(json.loads(file.read_bytes())["message"])
        except FileNotFoundError:
            return None

    def clear_failure(self, key: str) -> None:
        """Remove the record of a run's failure."""
        self._failure(key).unlink(missing_ok=True)

    def _failure(self, key: str) -> Path:
        return self._failures / f"{key}.json"

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield a temporary directory for the tables of one run."""
        self._workshop.mkdir(parents=True, exist_ok=True)
        prefix = f"{socket.gethostname()}-{os.getpid()}-"
        with tempfile.TemporaryDirectory(
            prefix=prefix, dir=self._workshop, ignore_cleanup_errors=True
        ) as path:
            yield Path(path)

    def resumable(self, run: Scenario) -> Path:
        """Create and return a run's directory for checkpoints; it is the same after a restart."""
        path = self._checkpoints / self._name(run)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def clear_resumable(self, run: Scenario) -> None:
        """Remove the checkpoints of a run, whose values are now stored."""
        shutil.rmtree(self._checkpoints / self._name(run), ignore_errors=True)

    def sweep_out(self) -> None:
        """Remove what this machine's killed processes left: scratch directories, unfinished files.

        Unfinished tables stay until their run is stored, since each run has a directory of tables.
        """
        for path in self._workshop.glob("*-*-*"):
            host, process, _ = path.name.rsplit("-", 2)
            if has_ended(host, process):
                shutil.rmtree(path, ignore_errors=True)
        for directory in (self._failures, *self._runs.glob("*/")):
            remove_unfinished(directory)
