"""Processes of this machine, by what names of files say of them."""

import os
import socket


def has_ended(host: str, process: str) -> bool:
    """Whether a process, by its number, has ended; what runs on other hosts is not known to."""
    if host != socket.gethostname() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
