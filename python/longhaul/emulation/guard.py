"""A separate process for an emulation, which cleans up if the command is killed."""

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1
"""Option PR_SET_PDEATHSIG of `prctl` (include/uapi/linux/prctl.h)."""

_PASSED_ON = {signal.SIGINT, signal.SIGTERM}


def continue_in_child() -> None:
    """Fork, and return in the child only; the parent waits for the child and exits with its code.

    If the parent is killed (SIGKILL), the kernel sends SIGTERM to the child, which writes the
    records and removes hosts and programs. If the parent has died before the kernel knows of this
    request, KeyboardInterrupt is raised in the child.
    """
    awaited = _PASSED_ON | {signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    guard, child = os.getpid(), os.fork()
    if child:
        os._exit(_exit_code(child, awaited))
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
    if os.getppid() != guard:
        raise KeyboardInterrupt


def _exit_code(child: int, awaited: set[signal.Signals]) -> int:
    """Forward SIGINT and SIGTERM to the child process until it ends; return its exit code.

    The code is 128 plus the signal's number if a signal has ended the child. `awaited` are the
    signals to wait for: those to forward, and SIGCHLD.
    """
    while True:
        received = signal.sigwaitinfo(awaited)
        if received.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
        elif received.si_code <= 0:
            # Only signals from a process are forwarded; Ctrl-C of a terminal reaches the child
            # itself.
            os.kill(child, received.si_signo)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        sys.stderr.write(
            f"error: the emulation was killed by signal {-code}: only a capture (--pcap) is kept\n"
        )
    return code if code >= 0 else 128 - code
