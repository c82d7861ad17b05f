"""Where finished runs are kept: a small file each, complete or not there at all."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longhaul import _engine
from longhaul._engine import LonghaulError, Scenario

# What is kept of a run: tables by name, each a list of rows.
Kept = dict[str, Any]


class Store:
    """A directory of finished runs, by results version and hash of the resolved scenario.

    Several programs may use one store at a time.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def _file(self, key: str) -> Path:
        version = _engine.results_version()
        return self.path / f"results-{version}" / key[:2] / f"{key}.json"

    def has(self, scenario: Scenario) -> bool:
        """Whether the run is done."""
        return self._file(scenario.hash).is_file()

    def get(self, scenario: Scenario) -> Kept | None:
        """What is kept of a run; None if it is not done."""
        file = self._file(scenario.hash)
        try:
            kept: Kept = json.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise LonghaulError(f"{file}: cannot be read ({error}); remove it") from None
        return kept

    def put(self, scenario: Scenario, kept: Kept) -> None:
        """Keep a run: under its name stands either all of it or nothing."""
        file = self._file(scenario.hash)
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=file.parent, suffix=".unfinished")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(kept, out, separators=(",", ":"))
                out.flush()
                os.fsync(out.fileno())
            Path(unfinished).replace(file)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A directory for the tables of one run under way, removed afterwards."""
        self._workshop.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(dir=self._workshop, prefix=f"{os.getpid()}-"))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @property
    def _workshop(self) -> Path:
        return self.path / "under-way"

    def sweep_out(self) -> None:
        """Remove what killed programs left under way."""
        for path in self._workshop.glob("*-*"):
            if not _is_alive(int(path.name.partition("-")[0])):
                shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
