"""Handling of Ctrl-C and SIGTERM: the program ends with a message and an exit code."""

import atexit
import os
import signal
import sys
import threading
from types import FrameType


class Terminated(KeyboardInterrupt):
    """Exception for SIGTERM, which ends programs as Ctrl-C does."""


def at_start() -> None:
    """Let signals end the program at once while it loads: nothing needs to be cleaned up yet.

    Also prepare for later: interrupts that destructors ignore are repeated, and signals are ignored
    at exit.
    """
    _on_both(_leave)
    _repeat_ignored_interrupts()
    atexit.register(_on_both, signal.SIG_IGN)


def at_work() -> None:
    """Turn signals into exceptions, so that commands can clean up."""
    _on_both(_interrupt)
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGURG"):
        # A signal ends a wait such as time.sleep and calls this handler, where an exception set for
        # the thread (longhaul.algorithm.interrupt) is raised.
        signal.signal(signal.SIGURG, _awake)


def _repeat_ignored_interrupts() -> None:
    """Send a signal again if the interpreter ignores its exception, as it does in destructors."""
    report = sys.unraisablehook

    def repeat(ignored: "sys.UnraisableHookArgs") -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            report(ignored)
            return
        number = signal.SIGTERM if issubclass(ignored.exc_type, Terminated) else signal.SIGINT
        while True:
            try:
                threading.Timer(0.01, os.kill, [os.getpid(), number]).start()
            except KeyboardInterrupt:
                # On a busy machine the signal arrives while the timer starts. Its exception would
                # be ignored here, too.
                continue
            return

    sys.unraisablehook = repeat


def _on_both(handler: "signal._HANDLER") -> None:
    # Only the main thread may set handlers of signals; calls in other threads change nothing. A
    # signal that is ignored already, such as SIGINT of a background job, stays ignored.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.stderr.write("error: interrupted\n")
    sys.stderr.flush()
    os._exit(1)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Terminated("terminated") if number == signal.SIGTERM else KeyboardInterrupt


def _awake(number: int, frame: FrameType | None) -> None:
    pass
