"""Congestion controller in a separate process: standard TCP (RFC 5681) over a socket.

    python examples/external_controller.py controller.sock &
    longhaul evaluate unix:controller.sock

With `round` after the path it receives one acknowledgement per round trip instead of each one.
`docs/external-controllers.md` describes the lines of the protocol; `external_controller.c` is the
same controller in C.
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

# The requested facts of an acknowledgement; others are not sent. Each event includes the window, so
# that the controller stores no state per flow.
HELLO = {
    "facts": ["acked", "may_grow", "cwnd", "ssthresh"],
    "report": "round" if sys.argv[2:] == ["round"] else "ack",
}


def answer(event: dict[str, Any]) -> dict[str, Any]:
    """Return the window of a flow after an event; `event["flow"]` is the number of the flow."""
    match event["event"]:
        case "hello":
            return HELLO
        case "ack" if event["may_grow"]:
            cwnd, ssthresh = event["cwnd"], event["ssthresh"]
            if ssthresh is None or cwnd < ssthresh:
                # RFC 5681, section 3.1, equation 2: at most one segment per acknowledged segment.
                # An ACK of a segment that fills a hole may acknowledge more than the window.
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
    # Only one line is in flight at a time, so that the received data is at most this line.
    received = bytearray()
    while more := connection.recv(4096):
        received += more
        if received.endswith(b"\n"):
            connection.sendall(json.dumps(answer(json.loads(received))).encode() + b"\n")
            received.clear()


def main(path: str) -> None:
    """Listen until the process is killed; each connection (one per run) gets a process."""
    Path(path).unlink(missing_ok=True)
    # Ended child processes are reaped automatically.
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
