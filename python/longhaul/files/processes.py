"""Test if a process of this machine, which a file name records, has ended."""

import os
import socket


def has_ended(host: str, process: str) -> bool:
    """Return true if a process has ended; false for processes of other hosts."""
    if host != socket.gethostname() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
