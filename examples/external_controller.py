"""A congestion controller in a process of its own: standard TCP (RFC 5681) over a socket.

    python examples/external_controller.py controller.sock &
    longhaul evaluate unix:controller.sock

Each flow is a connection; `longhaul.external` describes the lines that go over it.
"""

import json
import socketserver
import sys
from pathlib import Path
from typing import Any


class Reno:
    """One flow's state: nothing but what each event brings along."""

    def answer(self, event: dict[str, Any]) -> dict[str, float]:
        """What the window is after an event."""
        cwnd, ssthresh = event["cwnd"], event["ssthresh"] or float("inf")
        match event["event"]:
            case "ack" if not event["may_grow"]:
                return {}
            case "ack" if cwnd < ssthresh:
                # RFC 5681, section 3.1, equation 2: at most one segment for each that arrived.
                return {"cwnd": cwnd + event["acked"]}
            case "ack":
                return {"cwnd": cwnd + event["acked"] / cwnd}
            case "congestion":
                half = max(event["base"] / 2, 2.0)
                return {"cwnd": half, "ssthresh": half}
            case "timeout" if event["keep_ssthresh"]:
                return {"cwnd": 1.0}
            case "timeout":
                return {"cwnd": 1.0, "ssthresh": max(event["base"] / 2, 2.0)}
        return {}


class Flow(socketserver.StreamRequestHandler):
    """The connection of one flow."""

    def handle(self) -> None:
        """Answer each line until the flow ends."""
        control = Reno()
        for line in self.rfile:
            answer = control.answer(json.loads(line))
            self.wfile.write(json.dumps(answer).encode() + b"\n")


class Server(socketserver.ThreadingUnixStreamServer):
    """A thread for each flow."""

    daemon_threads = True


def main(path: str) -> None:
    """Listen until the process is ended."""
    Path(path).unlink(missing_ok=True)
    with Server(path, Flow) as server:
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
