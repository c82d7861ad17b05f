"""Congestion control in another process: each event a line of JSON over a socket, each answer one.

Written so that the controller of a QUIC stack, say, can be held to what simulations ask of it. It
listens on a socket; each flow connects to it. The first line of a flow is

    {"event": "open", "cwnd": 10.0, "ssthresh": null}

and each that follows an event with its facts, which have the names and units of
`longhaul.congestion`:

    {"event": "ack", "now_s": 1.25, "acked": 2, "delivered": 812, "lost": 3, "in_recovery": false,
     "may_grow": true, "rtt_s": 0.041, "srtt_s": 0.042, "min_rtt_s": 0.04, "ecn_echo": false,
     "cwnd": 61.5, "ssthresh": 60.0}
    {"event": "congestion", "now_s": ..., "cause": "loss", "base": ..., "in_flight": ..., ...}
    {"event": "timeout", "now_s": ..., "base": ..., "keep_ssthresh": false, ...}

The answer to each is one line, whose keys may be left out:

    {"cwnd": 62.0, "ssthresh": 60.0, "pacing_bps": 18e6}

`ssthresh` and `rtt_s` may be null: none. Windows are in segments. An answer to an acknowledgement
during slow start counts, too: the controller has its own.
"""

import json
import math
import socket
from typing import IO, Any, ClassVar, Literal

from longhaul.congestion import Ack, Congestion, CongestionControl, Timeout, Window

# A controller that does not answer for so long has failed.
PATIENCE_S = 60.0


def connect(address: str) -> socket.socket:
    """Connect to a controller at `unix:PATH` or `tcp:HOST:PORT`."""
    kind, _, place = address.partition(":")
    if kind == "unix" and place:
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        stream.settimeout(PATIENCE_S)
        try:
            stream.connect(place)
        except OSError:
            stream.close()
            raise
        return stream
    host, _, port = place.rpartition(":")
    if kind == "tcp" and host and port.isdecimal():
        stream = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream
    raise ValueError(f"address: expected unix:PATH or tcp:HOST:PORT, found {address!r}")


class External(CongestionControl):
    """A flow whose window another process decides on."""

    phases: ClassVar[Literal["avoidance", "slow start", "all"]] = "all"

    def __init__(self, address: str, version: str = "") -> None:
        """`version` tells what listens there: runs of another one are other runs."""
        self.address = address
        self.version = version
        self.stream: IO[str] | None = None
        self.pacing_bps: float | None = None

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Tell of an acknowledgement, in any phase."""
        self._tell(
            window,
            event="ack",
            now_s=ack.now_s,
            acked=ack.acked,
            delivered=ack.delivered,
            lost=ack.lost,
            in_recovery=ack.in_recovery,
            may_grow=ack.may_grow,
            rtt_s=ack.rtt_s,
            srtt_s=ack.srtt_s,
            min_rtt_s=ack.min_rtt_s,
            ecn_echo=ack.ecn_echo,
        )

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Tell of a loss or a mark, once in a recovery."""
        self._tell(
            window,
            event="congestion",
            now_s=event.now_s,
            cause=event.cause,
            base=event.base,
            in_flight=event.in_flight,
        )

    def on_timeout(self, event: Timeout, window: Window) -> None:
        """Tell of a retransmission timeout."""
        self._tell(
            window,
            event="timeout",
            now_s=event.now_s,
            base=event.base,
            keep_ssthresh=event.keep_ssthresh,
        )

    def __del__(self) -> None:
        """The flow is over."""
        if self.stream is not None:
            self.stream.close()

    def pacing_rate(self) -> float | None:
        """What the controller answered last."""
        return self.pacing_bps

    def _tell(self, window: Window, **facts: Any) -> None:  # noqa: ANN401
        """Send one event, and do what the answer says."""
        if self.stream is None:
            with connect(self.address) as connection:
                # Which stays open as long as this file is.
                self.stream = connection.makefile("rw", encoding="utf-8", newline="\n")
            self._exchange(window, {"event": "open"})
        self._exchange(window, facts)

    def _exchange(self, window: Window, facts: dict[str, Any]) -> None:
        stream, ssthresh = self.stream, window.ssthresh
        if stream is None:
            raise RuntimeError("no connection")
        facts |= {"cwnd": window.cwnd, "ssthresh": ssthresh if math.isfinite(ssthresh) else None}
        stream.write(json.dumps(facts, separators=(",", ":")) + "\n")
        stream.flush()
        line = stream.readline()
        if not line:
            raise ConnectionError(f"{self.address}: the controller has closed the connection")
        answer = json.loads(line)
        if not isinstance(answer, dict) or answer.keys() - {"cwnd", "ssthresh", "pacing_bps"}:
            raise ValueError(
                f"{self.address}: expected cwnd, ssthresh and pacing_bps in an object, found {line}"
            )
        if answer.get("ssthresh") is not None:
            window.ssthresh = answer["ssthresh"]
        if answer.get("cwnd") is not None:
            window.cwnd = answer["cwnd"]
        if "pacing_bps" in answer:
            self.pacing_bps = answer["pacing_bps"]
