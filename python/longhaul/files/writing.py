"""Atomic writes: a file appears under its name when it is complete, and not before."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longhaul._engine import RunError

# Suffix of temporary files. Killed processes leave some, which the next one removes.
SUFFIX = ".longhaul-unfinished"


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, which is renamed to it when the block succeeds.

    The temporary path has the suffix of `path`. What cannot be written is a `RunError`: its cause
    is outside the program, a full disk say.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}-", suffix=f"{SUFFIX}{path.suffix}"
        )
        os.close(handle)
    except OSError as error:
        raise _cannot_write(path, error) from None
    temporary = Path(name)
    try:
        yield temporary
        # As a file that was opened by its name would have it.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _cannot_write(path, error) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _remove_stale(path: Path) -> None:
    """Remove temporary files of the same file that killed processes have left."""
    for left in path.parent.glob(f".{path.name}-*{SUFFIX}{path.suffix}"):
        left.unlink(missing_ok=True)


def _cannot_write(path: Path, error: OSError) -> RunError:
    return RunError(f"cannot write {path}: {error.strerror or error}")


def _umask() -> int:
    """The umask of the process."""
    umask = os.umask(0o022)
    os.umask(umask)
    return umask
