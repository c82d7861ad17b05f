"""Programs that send and receive in the two hosts of an emulation, while a case is recorded.

`python -m validation.linux.applications receive|send CASE.json`. Receivers read and discard
data. Senders write continuously or at intervals, and sample their sockets. Both run with real-time
priority if this is permitted.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

FIRST_PORT = 5000
"""Port of the first flow's receiver; further receivers have the following ports."""

PRIORITY = 40
"""Real-time priority of senders and receivers, below that of the emulation."""

CHUNK = bytes(1 << 16)
"""Data of one write of an application that writes continuously."""

LINGER_S = 0.3
"""Seconds of sampling after the last byte of all flows was acknowledged."""

TCP_CONGESTION = 13
"""Socket option that selects the congestion control algorithm (`include/uapi/linux/tcp.h`)."""
INFO_BYTES = 232
"""Bytes of `struct tcp_info` through the field `tcpi_snd_wnd` (`include/uapi/linux/tcp.h`)."""

# Name, offset in bytes, and format of sampled fields.
FIELDS = (
    ("cwnd", 80, "I"), ("ssthresh", 76, "I"), ("rtt_us", 68, "I"), ("rttvar_us", 72, "I"),
    ("min_rtt_us", 148, "I"), ("retrans", 100, "I"), ("lost", 32, "I"), ("sacked", 28, "I"),
    ("unacked", 24, "I"), ("ca_state", 1, "B"), ("bytes_acked", 120, "Q"),
    ("pacing_rate", 104, "Q"), ("reordering", 88, "I"), ("reord_seen", 220, "I"),
    ("dsack_dups", 216, "I"), ("snd_wnd", 228, "I"), ("rto_us", 8, "I"),
)  # fmt: skip

NOT_OPEN = (2, 7)
"""Values of `tcpi_state` without an open connection: `TCP_SYN_SENT` and `TCP_CLOSE`."""


def main(arguments: list[str]) -> int:
    """Run the receivers or the senders of a case until they end; return the exit status 0."""
    side, file = arguments
    case = json.loads(Path(file).read_text(encoding="utf-8"))
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    if side == "receive":
        receive(case)
    else:
        send(case, Path(file).parent)
    return 0


def receive(case: dict[str, Any]) -> None:
    """Accept a connection per flow; a thread reads each connection until its sender closes it."""
    threads = []
    for number in range(len(case["flows"])):
        listener = socket.socket()
        if (size := case["receive_buffer_bytes"]) is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
        listener.bind(("", FIRST_PORT + number))
        listener.listen()
        threads.append(threading.Thread(target=_drain, args=(listener,)))
    for thread in threads:
        thread.start()


def _drain(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    buffer = bytearray(len(CHUNK))
    while connection.recv_into(buffer):
        pass


def send(case: dict[str, Any], folder: Path) -> None:
    """Send the data of all flows and sample the sockets; write files to `folder`, and exit.

    `samples.csv` has the samples, `sender.json` the kernel's TCP counters and settings.
    """
    start = time.monotonic() + 0.05
    sockets = []
    for number, flow in enumerate(case["flows"]):
        sender = socket.socket()
        sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, flow["algorithm"].encode())
        sockets.append(sender)
        work = threading.Thread(target=_write, args=(sender, number, flow, start), daemon=True)
        work.start()
    samples = _sample(case, sockets, start)
    with (folder / "samples.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["t", "flow", *(name for name, _, _ in FIELDS)])
        rows.writerows(samples)
    about = {"counters": _counters(), "sysctls": _sysctls()}
    (folder / "sender.json").write_text(json.dumps(about), encoding="utf-8")
    # Threads may be blocked in a write.
    os._exit(0)


def _write(sender: socket.socket, number: int, flow: dict[str, Any], start: float) -> None:
    """Write the data of one flow: at intervals, up to the flow's size, or without limit.

    `number` is the index of the flow. The flow's start time is relative to `start`.
    """
    begin = start + flow["start_s"]
    _sleep_until(begin)
    sender.connect(("receiver", FIRST_PORT + number))
    if writes := flow["writes"]:
        data = bytes(writes["size_bytes"])
        for turn in range(1, 1 << 30):
            _sleep_until(begin + turn * writes["every_s"])
            sender.sendall(data)
    left = flow["size_bytes"]
    while left is None or left > 0:
        data = CHUNK if left is None else CHUNK[:left]
        sender.sendall(data)
        left = None if left is None else left - len(data)
    sender.shutdown(socket.SHUT_WR)


def _sleep_until(when: float) -> None:
    time.sleep(max(0.0, when - time.monotonic()))


def _sample(
    case: dict[str, Any], sockets: list[socket.socket], start: float
) -> list[tuple[float | int, ...]]:
    """Return samples of all open sockets: time since `start` in s, number of the flow, `FIELDS`.

    Sampling ends with the case, or `LINGER_S` after all flows' data is acknowledged.
    """
    samples: list[tuple[float | int, ...]] = []
    sizes = [flow["size_bytes"] for flow in case["flows"]]
    end, turn = start + case["duration_s"], 0
    while (now := time.monotonic()) < end:
        acked = []
        for number, sender in enumerate(sockets):
            info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
            values = [struct.unpack_from(kind, info, at)[0] for _, at, kind in FIELDS]
            acked.append(struct.unpack_from("Q", info, 120)[0])
            if info[0] not in NOT_OPEN:
                samples.append((round(now - start, 6), number, *values))
        # `tcpi_bytes_acked` counts the SYN.
        pairs = zip(sizes, acked, strict=True)
        if all(size is not None and bytes_acked > size for size, bytes_acked in pairs):
            end = min(end, now + LINGER_S)
        turn += 1
        _sleep_until(start + turn * case["sample_s"])
    return samples


def _counters() -> dict[str, int]:
    """Return the nonzero TCP counters of this network namespace."""
    found: dict[str, int] = {}
    for name in ("snmp", "netstat"):
        lines = Path(f"/proc/net/{name}").read_text(encoding="utf-8").splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            if names.startswith("Tcp"):
                pairs = zip(names.split()[1:], values.split()[1:], strict=True)
                found |= {counter: int(value) for counter, value in pairs if int(value)}
    return found


def _sysctls() -> dict[str, str]:
    """Return the TCP settings of this network namespace."""
    found = {}
    for file in sorted(Path("/proc/sys/net/ipv4").glob("tcp_*")):
        with contextlib.suppress(OSError):
            if "key" not in file.name:
                found[file.name] = " ".join(file.read_text(encoding="utf-8").split())
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
