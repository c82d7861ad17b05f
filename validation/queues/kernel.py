"""Queue disciplines of a kernel's tree, or of its tar file, as one program that drives them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
STAND_INS = HERE / "kernel"
TYPES = HERE.parent.parent / "python" / "longhaul" / "modules" / "kernel"
"""Headers that modules of congestion control share: types, time, registration."""

DISCIPLINES = ("codel", "pie", "fq_codel", "fq_pie", "cake")

# What is compiled of the tree, unchanged. All other headers are ours.
SOURCES = [f"net/sched/sch_{name}.c" for name in DISCIPLINES]
HEADERS = ["include/net/codel.h", "include/net/codel_impl.h", "include/net/codel_qdisc.h"]
HEADERS += ["include/net/pie.h", "include/uapi/linux/pkt_sched.h"]

FLAGS = ("-std=gnu11", "-O2", "-fwrapv", "-fno-strict-aliasing", "-w")
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


def driver(tree: Path, folder: Path) -> Path:
    """Build the program that drives the disciplines; return its path."""
    sources = _sources(tree, folder)
    includes = folder / "include"
    _lay_out(sources, includes)
    return build([sources / name for name in SOURCES], includes, folder / "driver")


def build(disciplines: Iterable[Path], includes: Path, program: Path) -> Path:
    """Compile disciplines and the driver to a program, with a folder of headers that they name."""
    front = ["-include", str(STAND_INS / "qdisc.h"), "-I", str(TYPES), "-I", str(includes)]
    files = [*(str(file) for file in disciplines), str(STAND_INS / "driver.c")]
    done = subprocess.run(
        ["cc", *FLAGS, *front, *files, "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the disciplines do not compile\n{done.stderr}")
    return program


def _sources(tree: Path, folder: Path) -> Path:
    if tree.is_dir():
        return tree
    into = folder / "tree"
    wanted = {*SOURCES, *HEADERS}
    with tarfile.open(tree) as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            if name in wanted:
                member.name = name
                archive.extract(member, into, filter="data")
                wanted.remove(name)
            if not wanted:
                return into
    raise SystemExit(f"{tree} lacks {', '.join(sorted(wanted))}")


def _lay_out(sources: Path, includes: Path) -> None:
    """Fill a folder of headers: the tree's own where they are needed, else empty ones."""
    for name in _included(sources / file for file in SOURCES + HEADERS):
        header = includes / name
        header.parent.mkdir(parents=True, exist_ok=True)
        header.touch()
    for file in HEADERS:
        shutil.copy(sources / file, includes / "net" / Path(file).name)


def _included(files: Iterable[Path]) -> set[str]:
    texts = (file.read_text(encoding="utf-8") for file in files)
    return {name for text in texts for name in INCLUDE.findall(text)}
