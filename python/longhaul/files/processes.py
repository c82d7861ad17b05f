"""Check if a process, whose host and number a file name contains, has ended."""

import os
import socket


def has_ended(host: str, process: str) -> bool:
    """Return true if the process with this number has ended; always false for other hosts."""
    if host != socket.gethostname() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
