"""Files that appear under their names only when they are complete."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longhaul._engine import RunError

# How temporary files are called; killed programs leave some, which the next one removes.
SUFFIX = ".longhaul-unfinished"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which takes its place when the block ends well.

    The temporary path has the suffix of `path`. What cannot be written is a `RunError`: its cause
    is outside the program, a full disk say.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
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
    """Write a text file, all of it or nothing."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _sweep(path: Path) -> None:
    """Remove what killed programs have left of the same file."""
    for left in path.parent.glob(f".{path.name}-*{SUFFIX}{path.suffix}"):
        left.unlink(missing_ok=True)


def _cannot_write(path: Path, error: OSError) -> RunError:
    return RunError(f"cannot write {path}: {error.strerror or error}")


def _umask() -> int:
    """Which permissions new files do not have."""
    umask = os.umask(0o022)
    os.umask(umask)
    return umask
