"""Build of congestion control modules from a kernel's source tree or tar file."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from pathlib import Path

from longhaul import modules

# Modules: their files in net/ipv4, and the `kind` of our algorithm, or None if we have no such
# algorithm. A module without `kind` is built, but not compared.
MODULES: dict[str, tuple[tuple[str, ...], str | None]] = {
    "cubic": (("tcp_cubic.c",), "cubic"),
    "highspeed": (("tcp_highspeed.c",), "hstcp"),
    "scalable": (("tcp_scalable.c",), "scalable"),
    "htcp": (("tcp_htcp.c",), "htcp"),
    "bic": (("tcp_bic.c",), "bic"),
    "hybla": (("tcp_hybla.c",), "hybla"),
    "illinois": (("tcp_illinois.c",), "illinois"),
    "vegas": (("tcp_vegas.c",), "vegas"),
    "veno": (("tcp_veno.c",), "veno"),
    "westwood": (("tcp_westwood.c",), "westwood"),
    "yeah": (("tcp_yeah.c", "tcp_vegas.c"), "yeah"),
    "lp": (("tcp_lp.c",), "lp"),
    "bbr": (("tcp_bbr.c",), "bbr"),
    "dctcp": (("tcp_dctcp.c",), "dctcp"),
    "cdg": (("tcp_cdg.c",), None),
    "nv": (("tcp_nv.c",), None),
}


def sources(tree: Path, into: Path) -> Path:
    """Return the directory of a kernel's TCP sources.

    `tree` is a source tree, the directory of the TCP sources itself, or a tar file. The TCP sources
    of a tar file are unpacked into the directory `into`.
    """
    if tree.is_dir():
        below = tree / "net" / "ipv4"
        return below if below.is_dir() else tree
    with tarfile.open(tree) as archive:
        for member in _tcp_files(archive):
            member.name = Path(member.name).name
            archive.extract(member, into, filter="data")
    return into


def _tcp_files(archive: tarfile.TarFile) -> Iterable[tarfile.TarInfo]:
    found = False
    for member in archive:
        here = "/net/ipv4/" in member.name
        if here and Path(member.name).name.startswith("tcp_") and member.isfile():
            yield member
        # The files of a directory are consecutive, so the rest of the archive need not be read.
        if found and not here:
            return
        found = here


def objects(folder: Path, into: Path) -> dict[str, Path]:
    """Build every module whose files exist in `folder`, and write the objects to `into`.

    Return the files of the objects by name of the module.
    """
    built = {}
    for name, (files, _) in MODULES.items():
        paths = [folder / file for file in files]
        if all(path.is_file() for path in paths):
            wanted = name if len(files) > 1 else None
            built[name] = modules.build(paths, into / f"{name}.so", name=wanted).object
    return built
