"""Rights and programs that tests of emulation need, and that not every machine has."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def _lack(*programs: str) -> str | None:
    """Return a message about a requirement of emulation that this machine lacks, or None.

    The requirements are root, /dev/net/tun, namespaces and `programs`.
    """
    if os.geteuid() != 0:
        return "an emulation needs root"
    if not Path("/dev/net/tun").exists():
        return "an emulation needs /dev/net/tun"
    probe = ["unshare", "--net", "--mount", "--pid", "--fork", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        return "an emulation needs namespaces"
    missing = [program for program in programs if shutil.which(program) is None]
    return f"not installed: {', '.join(missing)}" if missing else None


def needs(*programs: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test if the machine lacks the rights or one of `programs`."""
    lack = _lack(*programs)
    return pytest.mark.skipif(lack is not None, reason=lack or "")
