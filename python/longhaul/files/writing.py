"""Atomic writes: a file appears under its name only when it is complete."""

import glob
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longhaul._engine import RunError
from longhaul.files.processes import has_ended

# Suffix of temporary files, before the format's suffix; killed processes leave such files.
SUFFIX = ".longhaul-unfinished"


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; rename the file to `path` when the block succeeds.

    The temporary path has the suffix of `path`. Missing parent directories are created. If writing
    fails, raise `RunError`, because the cause, such as a full disk, is outside the program.
    """
    try:
        with _renamed(path, path.suffix) as temporary:
            yield temporary
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_durably(path: Path, content: bytes) -> None:
    """Write a file atomically and flush it to the disk; raise `OSError` if this fails."""
    with _renamed(path) as temporary, temporary.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def remove_unfinished(directory: Path, file: str = "*") -> None:
    """Remove temporary files that killed processes of this machine have left in `directory`.

    `file` is a name or a pattern. Files of living processes and of other machines stay.
    """
    for left in directory.glob(f".{file}~*~*~*{SUFFIX}*"):
        _, host, process, _ = left.name.rsplit("~", 3)
        if has_ended(host, process):
            left.unlink(missing_ok=True)


@contextmanager
def _renamed(path: Path, suffix: str = "") -> Iterator[Path]:
    remove_unfinished(path.parent, glob.escape(path.name))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        dir=path.parent,
        prefix=f".{path.name}~{socket.gethostname()}~{os.getpid()}~",
        suffix=SUFFIX + suffix,
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # The file gets the permissions of an ordinary new file.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    umask = os.umask(0o022)
    os.umask(umask)
    return umask
