"""Reader of a run's packet capture, `packets.pcapng`."""

import struct
from collections.abc import Iterator
from pathlib import Path

import polars as pl

FILE = "packets.pcapng"

# Types of blocks (draft-ietf-opsawg-pcapng, sections 4.2 and 4.3). Captures are little endian, with
# timestamps in nanoseconds.
INTERFACE, PACKET = 1, 6
COMMENT, IF_NAME = 1, 2
ETHERNET_BYTES, TCP = 14, 6
# RFC 7323 section 2.2, RFC 2018 section 3.
END, NOTHING, WINDOW_SCALE, SACK = 0, 1, 3, 5
SYN = 0x02

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "t_s": pl.Float64, "link": pl.String, "from": pl.String, "to": pl.String, "number": pl.Int64,
    "ack": pl.Int64, "payload_bytes": pl.Int64, "window_bytes": pl.Int64, "syn": pl.Boolean,
    "sack": pl.List(pl.List(pl.Int64)), "dropped": pl.Boolean,
}  # fmt: skip


def packets(run: Path, from_s: float | None = None, to_s: float | None = None) -> pl.DataFrame:
    """Return the TCP packets of a run's capture between two times in seconds, in the file's order.

    Both times are inclusive. Columns `number` and `ack` are the header's sequence and
    acknowledgement numbers (32 bits); `from` and `to` are addresses with ports, and `link` is a
    link or a node. `dropped` is true only for drops on arrival at the link; packets that its queue
    drops later are not marked.
    """
    content = (run / FILE).read_bytes()
    low, high = from_s or 0.0, float("inf") if to_s is None else to_s
    rows = _rows(content, low, high)
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


def _rows(content: bytes, low: float, high: float) -> Iterator[tuple[object, ...]]:
    names: list[str] = []
    # Window scale shift that each end of a connection announced in its SYN.
    shifts: dict[str, int] = {}
    for kind, body in _blocks(content):
        if kind == INTERFACE:
            names.append(_options(body[8:]).get(IF_NAME, b"").decode())
        if kind != PACKET:
            continue
        number, upper, lower, captured, _ = struct.unpack_from("<5I", body)
        t_s = ((upper << 32) + lower) * 1e-9
        ip = body[20 + ETHERNET_BYTES : 20 + captured]
        if ip[9] != TCP:
            continue
        tcp = ip[(ip[0] & 15) * 4 :]
        source, target, sequence, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", tcp)
        start = _address(ip[12:16], source)
        header = (offset >> 4) * 4
        shift, sack = _tcp_options(tcp[20:header])
        if flags & SYN:
            shifts[start] = shift
        else:
            window <<= shifts.get(start, 0)
        if not low <= t_s <= high:
            continue
        total = int.from_bytes(ip[2:4], "big") or captured - ETHERNET_BYTES
        payload = total - (ip[0] & 15) * 4 - header
        comment = _options(body[20 + -(-captured // 4) * 4 :]).get(COMMENT, b"")
        yield (
            t_s, names[number], start, _address(ip[16:20], target), sequence, ack, payload, window,
            bool(flags & SYN), sack, comment.startswith(b"dropped"),
        )  # fmt: skip


def _blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 12 <= len(content):
        kind, length = struct.unpack_from("<II", content, at)
        yield kind, content[at + 8 : at + length - 4]
        at += length


def _options(content: bytes) -> dict[int, bytes]:
    """Return the options of a pcapng block by code; the block pads each option to four bytes."""
    options, at = {}, 0
    while at + 4 <= len(content):
        code, length = struct.unpack_from("<HH", content, at)
        if code == 0:
            break
        options[code] = content[at + 4 : at + 4 + length]
        at += 4 + -(-length // 4) * 4
    return options


def _tcp_options(content: bytes) -> tuple[int, list[tuple[int, ...]]]:
    """Return the window scale shift and the SACK blocks in a TCP header's options."""
    shift, blocks, at = 0, [], 0
    while at < len(content) and content[at] != END:
        if content[at] == NOTHING:
            at += 1
            continue
        length = content[at + 1]
        if content[at] == WINDOW_SCALE:
            shift = content[at + 2]
        if content[at] == SACK:
            blocks = [
                struct.unpack_from(">II", content, place) for place in range(at + 2, at + length, 8)
            ]
        at += length
    return shift, blocks


def _address(ip: bytes, port: int) -> str:
    return f"{'.'.join(map(str, ip))}:{port}"
