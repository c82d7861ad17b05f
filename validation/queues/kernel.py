"""Build of driver programs that run queue disciplines from a kernel tree or its tar file."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
STAND_INS = HERE / "kernel"
TYPES = HERE.parent.parent / "python" / "longhaul" / "modules" / "kernel"
"""Directory of headers shared with congestion control modules: types, time, registration."""

# Files of a kernel tree that are compiled unchanged; all other headers are ours.
SOURCES = {
    name: f"net/sched/sch_{name}.c"
    for name in ("codel", "pie", "fq_codel", "fq_pie", "cake", "red", "dualpi2")
}
HEADERS = ["include/net/codel.h", "include/net/codel_impl.h", "include/net/codel_qdisc.h"]
HEADERS += ["include/net/pie.h", "include/net/red.h", "include/uapi/linux/pkt_sched.h"]

FLAGS = ("-std=gnu11", "-O2", "-fwrapv", "-fno-strict-aliasing", "-w")
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


def drivers(trees: Sequence[Path], folder: Path) -> Mapping[str, Path]:
    """Build one program from each kernel tree, and return the program of each queue discipline.

    A discipline is taken from the first of `trees` that has the discipline. `folder` is a directory
    for unpacked sources, headers and programs.
    """
    found: dict[str, Path] = {}
    for number, tree in enumerate(trees):
        own = folder / f"tree{number}"
        sources = _sources(tree, own)
        new = [
            name for name in SOURCES if name not in found and (sources / SOURCES[name]).is_file()
        ]
        files = [SOURCES[name] for name in new]
        includes = own / "include"
        _lay_out(sources, files, includes)
        program = build([sources / file for file in files], includes, own / "driver")
        found |= dict.fromkeys(new, program)
    return found


def build(disciplines: Iterable[Path], includes: Path, program: Path) -> Path:
    """Compile `disciplines` and `kernel/driver.c` to `program`, and return `program`.

    `includes` is the directory of the kernel's headers. If the compiler fails, raise SystemExit
    with its messages.
    """
    front = ["-include", str(STAND_INS / "qdisc.h"), "-I", str(TYPES), "-I", str(includes)]
    files = [*(str(file) for file in disciplines), str(STAND_INS / "driver.c")]
    done = subprocess.run(
        ["cc", *FLAGS, *front, *files, "-lm", "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the disciplines do not compile\n{done.stderr}")
    return program


def _sources(tree: Path, folder: Path) -> Path:
    """Return the directory of a kernel tree; unpack the needed files if `tree` is a tar file.

    Raise SystemExit if a tar file lacks a needed file other than that of DualPI2.
    """
    if tree.is_dir():
        return tree
    into = folder / "unpacked"
    wanted = {*SOURCES.values(), *HEADERS}
    with tarfile.open(tree) as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            if name in wanted:
                member.name = name
                archive.extract(member, into, filter="data")
                wanted.remove(name)
            if not wanted:
                break
    if wanted - {SOURCES["dualpi2"]}:
        raise SystemExit(f"{tree} lacks {', '.join(sorted(wanted))}")
    return into


def _lay_out(sources: Path, files: Iterable[str], includes: Path) -> None:
    """Copy `HEADERS` to `includes/net`, and add empty files for all other included headers.

    These are the headers that `files` or `HEADERS` include. The copy of `linux/pkt_sched.h` takes
    the place of `net/pkt_sched.h`, which the disciplines include.
    """
    for name in _included(sources / file for file in [*files, *HEADERS]):
        header = includes / name
        header.parent.mkdir(parents=True, exist_ok=True)
        header.touch()
    for file in HEADERS:
        shutil.copy(sources / file, includes / "net" / Path(file).name)


def _included(files: Iterable[Path]) -> set[str]:
    texts = (file.read_text(encoding="utf-8") for file in files)
    return {name for text in texts for name in INCLUDE.findall(text)}
