"""Compilation of modules: `longhaul module build`."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul import _engine
from longhaul._engine import LonghaulError
from longhaul.files.writing import atomic
from longhaul.modules import diagnostics, sources

KERNEL = Path(__file__).parent / "kernel"

# The kernel's flags: signed overflow wraps, and types may alias. Undeclared functions and wrong
# signatures of hooks, which are warnings of older compilers, are errors.
FLAGS = (
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-common",
    "-fvisibility=hidden",
    "-fdiagnostics-color=never",
)
MODULE_FLAGS = (
    "-fno-builtin",
    "-Werror=implicit-function-declaration",
    "-Werror=implicit-int",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
)

# Values of CONFIG_HZ, the clock ticks per second.
HZ = (100, 250, 300, 1000)


class ModuleBuildError(LonghaulError):
    """Error: a kernel module cannot be built."""


@dataclass(frozen=True)
class Built:
    """A compiled object file, with the description of the kernel module in it."""

    object: Path
    name: str
    parameters: list[tuple[str, str, str]]
    """Name, type and default of each parameter."""
    hooks: list[str]
    needs: list[str]
    hz: int


def build(
    files: Sequence[Path], out: Path | None = None, *, name: str | None = None, hz: int = 250
) -> Built:
    """Compile a kernel module of one or several C files to an object file for scenarios.

    The object is written to `out`, by default to the current directory under the name of the first
    source. `name` selects a congestion control if the files register several. `hz` is the number of
    clock ticks per second.

    Raises:
        ModuleBuildError: an argument is invalid, the compiler is missing or reports an error, or
            the object registers no congestion control, several of them, or none called `name`.

    """
    check_inputs(files, hz)
    target = out or Path(files[0]).with_suffix(".so").name
    with atomic(Path(target)) as unfinished:
        try:
            told = _described(unfinished, files, name=name, hz=hz)
        except ModuleBuildError:
            if name is None:
                raise
            only = _described(unfinished, files, name=None, hz=hz)["name"]
            reason = f"it registers no {name}, only {only}: expected --name {only}, or none"
            raise ModuleBuildError(f"{_names(files)}: {reason}") from None
    return Built(object=Path(target), **told)


def _described(target: Path, files: Sequence[Path], *, name: str | None, hz: int) -> dict[str, Any]:
    """Compile a module to the object file `target`; return the description that it contains."""
    compile_to(target, files, ["-shared"], name=name, hz=hz)
    try:
        return _engine.describe_module(target)
    except _engine.AlgorithmError as error:
        reason = str(error).removeprefix(f"{target}: ")
        raise ModuleBuildError(f"{_names(files)}: {reason}") from None


def check_inputs(files: Sequence[Path], hz: int) -> None:
    """Raise an error for files that are no C sources, and for values of `hz` that no kernel has."""
    for file in files:
        if not file.is_file():
            raise ModuleBuildError(f"{file}: no such file")
        if file.suffix != ".c":
            raise ModuleBuildError(f"{file}: expected a C source, whose name ends in .c")
    if hz not in HZ:
        raise ModuleBuildError(f"--hz: expected one of {', '.join(map(str, HZ))}, found {hz}")


def compile_to(
    target: Path,
    files: Sequence[Path],
    flags: Sequence[str],
    *,
    name: str | None,
    hz: int,
    beside: Sequence[Path] = (),
) -> None:
    """Compile a module's `files`, and link them with `runtime.c` and the sources in `beside`."""
    texts = sources.read_all(files)
    macros = [f"-D{macro}" for macro in sources.macros(texts.values())]
    macros += [f"-DHZ={hz}", *([f'-DLONGHAUL_NAME="{name}"'] if name else [])]
    with _stand_ins(sources.headers(texts.values())) as (folder, includes):
        objects = []
        for number, file in enumerate(files):
            objects.append(folder / f"{number}.o")
            front = ["-include", str(KERNEL / "kernel.h"), "-I", str(includes)]
            compiling = [flag for flag in flags if flag.startswith(("-f", "-g"))]
            arguments = [*FLAGS, *MODULE_FLAGS, *macros, *front, *compiling]
            _run([*arguments, "-c", str(file), "-o", str(objects[-1])], files)
        own = [str(file) for file in (KERNEL / "runtime.c", *beside)]
        # A missing symbol is an error.
        all_symbols = [] if sys.platform == "darwin" else ["-Wl,-z,defs"]
        arguments = [*FLAGS, *macros, *flags, *all_symbols]
        _run([*arguments, *own, *map(str, objects), "-o", str(target)], files)


@contextmanager
def _stand_ins(names: set[str]) -> Iterator[tuple[Path, Path]]:
    """Yield a temporary directory, and its subdirectory with empty kernel headers (`names`).

    Empty headers suffice: our `kernel.h`, included before every source, declares everything.
    """
    with tempfile.TemporaryDirectory(prefix="longhaul-module-") as temporary:
        folder = Path(temporary)
        includes = folder / "include"
        for name in names:
            (includes / name).parent.mkdir(parents=True, exist_ok=True)
            (includes / name).touch()
        yield folder, includes


def _run(arguments: Sequence[str], files: Sequence[Path]) -> None:
    command = [*compiler(), *arguments]
    english = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=english, check=False
    )
    if done.returncode != 0:
        raise ModuleBuildError(diagnostics.explain(done.stderr, files))


def compiler() -> list[str]:
    """Return the command of the C compiler: the environment variable CC, or `cc`."""
    command = os.environ.get("CC", "cc").split() or ["cc"]
    if shutil.which(command[0]) is None:
        raise ModuleBuildError(
            f"there is no C compiler `{command[0]}`: install one (Debian: apt-get install gcc), "
            "or name one in the environment variable CC"
        )
    return command


def _names(files: Sequence[Path]) -> str:
    return ", ".join(str(file) for file in files)
