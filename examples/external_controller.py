"""A congestion controller in a process of its own: standard TCP (RFC 5681) over a socket.

    python examples/external_controller.py controller.sock &
    longhaul evaluate unix:controller.sock

With `round` after the path it is told of one acknowledgement a round trip instead of each.
`docs/external-controllers.md` describes the lines that go over the socket; `external_controller.c`
does the same in C.
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

# What is wanted of an acknowledgement: nothing else is sent. The window comes back with each event,
# so that no flow needs memory of its own.
HELLO = {
    "facts": ["acked", "may_grow", "cwnd", "ssthresh"],
    "report": "round" if sys.argv[2:] == ["round"] else "ack",
}


def answer(event: dict[str, Any]) -> dict[str, Any]:
    """What the window of a flow is after an event; `event["flow"]` would tell which flow."""
    match event["event"]:
        case "hello":
            return HELLO
        case "ack" if event["may_grow"]:
            cwnd, ssthresh = event["cwnd"], event["ssthresh"]
            if ssthresh is None or cwnd < ssthresh:
                # RFC 5681, section 3.1, equation 2: at most one segment for each that arrived. What
                # fills a hole acknowledges more than the window.
                return {"cwnd": cwnd + min(event["acked"], cwnd)}
            return {"cwnd": cwnd + event["acked"] / cwnd}
        case "congestion":
            half = max(event["base"] / 2, 2.0)
            return {"cwnd": half, "ssthresh": half}
        case "timeout" if event["keep_ssthresh"]:
            return {"cwnd": 1.0}
        case "timeout":
            return {"cwnd": 1.0, "ssthresh": max(event["base"] / 2, 2.0)}
    return {}


def serve(connection: socket.socket) -> None:
    """Answer each line until the run ends."""
    # One line is under way at a time, so that whatever has arrived is at most that line.
    received = bytearray()
    while more := connection.recv(4096):
        received += more
        if received.endswith(b"\n"):
            connection.sendall(json.dumps(answer(json.loads(received))).encode() + b"\n")
            received.clear()


def main(path: str) -> None:
    """Listen until the process is ended; each connection, that is each run, has a process."""
    Path(path).unlink(missing_ok=True)
    # Processes that have ended are not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        while True:
            connection, _ = listening.accept()
            with connection:
                if os.fork() == 0:
                    listening.close()
                    serve(connection)
                    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
