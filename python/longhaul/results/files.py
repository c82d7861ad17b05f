"""Reader of a run directory's files; refuses damaged and changed files, and other versions."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import polars as pl
import polars.selectors as cs

from longhaul import _engine
from longhaul._engine import LonghaulError
from longhaul.files.names import nearest, suggestion


class ResultsError(LonghaulError):
    """Error: a run directory, or a file in it, cannot be read."""


class RunTable(pl.DataFrame):
    """A table of a run: a data frame whose error for a missing column suggests the nearest name.

    The result of `filter` and of other operations is an ordinary data frame.
    """

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        """Return a column, or another selection of a data frame."""
        if isinstance(key, str) and key not in self.columns:
            end = suggestion(
                key, self.columns, "longhaul list columns", _nearest(key, self.columns)
            )
            raise ResultsError(f"no column `{key}`{end}")
        return super().__getitem__(key)


# Common words for quantities, and the words that column names use.
_OTHER_WORDS = {
    "time": "t",
    "throughput": "goodput",
    "window": "cwnd",
    "utilisation": "utilization",
}


def _nearest(word: str, columns: Sequence[str]) -> str | None:
    """Return the column whose name is most similar to `word`; None if none is similar.

    The name starts with the word, resembles it, or contains it.
    """
    wanted = _OTHER_WORDS.get(word, word)
    begins = [name for name in columns if name.startswith(f"{wanted}_") or name == wanted]
    holds = [name for name in columns if wanted in name and len(wanted) > 2]
    alike = nearest(word, columns)
    return next(iter([*begins, *([alike] if alike else ()), *holds]), None)


_NUMBER = int | float

# Keys that a readable `run.json` must have, with their types.
_REQUIRED: dict[str, Any] = {
    "version": str,
    "results_version": int,
    "seed": int,
    "replication": int,
    "simulated_s": _NUMBER,
    "stopped": bool,
    "measured_from_s": _NUMBER,
    "data_packets": int,
    "events": int,
    "warnings": list,
    "rows": dict,
    "scenario_hash": str,
    "scenario": dict,
    "machine": dict,
}
_MACHINE = ("wall_s", "packets_per_s", "peak_memory_bytes")
# Precedes the digest of all text above it.
_OWN_DIGEST = ',\n  "sha256_above"'


def read_meta(directory: Path) -> dict[str, Any]:
    """Return the content of a run directory's `run.json`."""
    file = directory / "run.json"
    if not file.is_file():
        there = "has no run.json" if directory.is_dir() else "does not exist"
        raise ResultsError(
            f"{directory}: not a run directory: it {there}; `longhaul run` writes one"
        )
    try:
        text = file.read_text(encoding="utf-8")
        meta: Any = json.loads(text)
    except (ValueError, OSError, RecursionError) as error:
        raise ResultsError(f"{file}: cannot be read ({error}); run the scenario again") from None
    _check_shape(file, meta)
    _check_own_digest(file, text, meta)
    return dict(meta)


def _check_shape(file: Path, meta: Any) -> None:  # noqa: ANN401
    """Raise an error for a file whose content is no `run.json`."""

    def refuse(what: str) -> ResultsError:
        return ResultsError(
            f"{file}: {what}; it was edited, or is not a run; run the scenario again"
        )

    if not isinstance(meta, dict):
        raise refuse("is not a run description")
    for key, kind in _REQUIRED.items():
        if key not in meta:
            raise refuse(f"`{key}` is missing")
        value = meta[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            names = " or ".join(type_.__name__ for type_ in get_args(kind) or (kind,))
            raise refuse(f"`{key}` is {value!r:.40}, which is not of type {names}")
    for key in _MACHINE:
        value = meta["machine"].get(key)
        if not isinstance(value, _NUMBER) or isinstance(value, bool):
            raise refuse(f"`machine.{key}` is not a number")
    if not all(isinstance(rows, int) for rows in meta["rows"].values()):
        raise refuse("`rows` holds something that is not a number")
    if not all(isinstance(text, str) for text in meta["warnings"]):
        raise refuse("`warnings` holds something that is not a string")


def _check_own_digest(file: Path, text: str, meta: dict[str, Any]) -> None:
    """Raise an error for a `run.json` that does not match the digest that it contains."""
    above, mark, _ = text.rpartition(_OWN_DIGEST)
    if mark and hashlib.sha256(above.encode()).hexdigest() != meta.get("sha256_above"):
        raise ResultsError(
            f"{file}: edited after the run (its checksum does not match); run the scenario again"
        )


def read_table(
    directory: Path, meta: dict[str, Any], name: str, remedy: str, columns: Sequence[str]
) -> pl.DataFrame:
    """Read a table of a run completely; raise an error if it lacks one of the columns.

    A table that another version has written may lack a column. `remedy` is the advice for a missing
    table.
    """
    file = check_table(directory, meta, name, remedy)
    try:
        table = pl.read_parquet(file).with_columns(cs.categorical().cast(pl.String))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(file, str(error)) from None
    missing = [column for column in columns if column not in table.columns]
    if missing:
        versions = f"results version {meta['results_version']}, this is {_engine.results_version()}"
        raise ResultsError(
            f"{file}: has no column `{missing[0]}`: it was written by Longhaul {meta['version']} "
            f"({versions}); run the scenario again"
        )
    return RunTable(table)


def check_table(directory: Path, meta: dict[str, Any], name: str, remedy: str) -> Path:
    """Return the path of a table's file; raise ResultsError if it is missing or damaged."""
    file = directory / f"{name}.parquet"
    if not file.is_file():
        raise ResultsError(f"{file}: missing; {remedy}")
    digests = meta.get("sha256")
    expected = digests.get(file.name) if isinstance(digests, dict) else None
    if expected is not None:
        try:
            with file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            raise _damaged(file, error.strerror or str(error)) from None
        if digest != expected:
            raise _damaged(file, "its checksum does not match")
    return file


def _damaged(file: Path, reason: str) -> ResultsError:
    first = (reason.splitlines() or ["unknown reason"])[0]
    return ResultsError(f"{file}: damaged, edited or truncated ({first}); run the scenario again")
