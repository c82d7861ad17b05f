"""The reader of captures, tested with a file made block by block, and with a run's capture."""

import struct
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL

import longhaul
from longhaul.results.captures import FILE, packets

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
CLIENT, SERVER = bytes([10, 0, 0, 1]), bytes([10, 0, 1, 2])


def block(kind: int, body: bytes) -> bytes:
    """Return a block of type `kind` of a pcapng file (draft-ietf-opsawg-pcapng, section 3.1)."""
    body += bytes(-len(body) % 4)
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def option(code: int, value: bytes) -> bytes:
    """Return an option of a pcapng block, padded to four bytes (draft, section 3.5)."""
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(name: bytes) -> bytes:
    """Return the pcapng block of an Ethernet interface with a name (draft, section 4.2)."""
    return block(INTERFACE, struct.pack("<HHI", 1, 0, 0) + option(2, name) + option(0, b""))


def packet(number: int, t_ns: int, ip: bytes, comment: bytes = b"") -> bytes:
    """Return a pcapng packet block (draft, section 4.3) with Ethernet header and any comment."""
    frame = bytes(14) + ip
    head = struct.pack("<5I", number, t_ns >> 32, t_ns & 0xFFFFFFFF, len(frame), len(frame))
    options = option(1, comment) + option(0, b"") if comment else b""
    return block(PACKET, head + frame + bytes(-len(frame) % 4) + options)


def segment(
    ends: tuple[bytes, bytes], ports: tuple[int, int], numbers: tuple[int, int], flags: int,
    window: int, options: bytes = b"", payload: int = 0, length: int | None = None,
) -> bytes:  # fmt: skip
    """Return the IPv4 and TCP headers of a segment (RFC 791 section 3.1, RFC 9293 section 3.1).

    `numbers` are the sequence and acknowledgement numbers, and `payload` is the number of bytes
    that follow.
    """
    options += bytes(-len(options) % 4)
    total = 40 + len(options) + payload if length is None else length
    ip = struct.pack(">BBHIBBH", 0x45, 0, total, 0, 64, 6, 0) + ends[0] + ends[1]
    offset = (5 + len(options) // 4) << 4
    return ip + struct.pack(">HHIIBBHI", *ports, *numbers, offset, flags, window, 0) + options


FORTH, BACK = (CLIENT, SERVER), (SERVER, CLIENT)
UP, DOWN = (5001, 80), (80, 5001)
# Options: no operation and a window scale of 7 (RFC 7323, 2.2); two SACK blocks (RFC 2018, 3).
SCALE, BLOCKS = b"\x01\x03\x03\x07", b"\x01\x01\x05\x12" + struct.pack(">4I", 300, 400, 600, 650)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Write a capture: handshake, data, an ACK with SACK blocks, a dropped packet, a datagram."""
    udp = struct.pack(">BBHIBBH", 0x45, 0, 28, 0, 64, 17, 0) + CLIENT + SERVER + bytes(8)
    parts = [
        block(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        interface(b"there"),
        interface(b"back again"),
        packet(0, 1_000_000_000, segment(FORTH, UP, (100, 0), 0x02, 65535, SCALE)),
        packet(1, 1_500_000_000, segment(BACK, DOWN, (900, 101), 0x12, 8000)),
        packet(0, 5_000_000_000, segment(FORTH, UP, (101, 901), 0x10, 512, payload=99)),
        packet(0, 5_000_000_001, udp),
        packet(1, 6_000_000_000, segment(BACK, DOWN, (901, 200), 0x10, 512, BLOCKS + b"\0\x63")),
        packet(0, 7_250_000_000, segment(FORTH, UP, (200, 901), 0x10, 1, payload=1), b"dropped x"),
        packet(0, 8_000_000_000, segment(FORTH, UP, (201, 901), 0x10, 1, length=0), b"seen"),
    ]
    (tmp_path / FILE).write_bytes(b"".join(parts))
    return tmp_path


def test_packets_of_a_capture_made_by_hand(run: Path) -> None:
    table = packets(run)
    assert table["t_s"].to_list() == pytest.approx([1.0, 1.5, 5.0, 6.0, 7.25, 8.0])
    assert table["link"].to_list() == [
        "there",
        "back again",
        "there",
        "back again",
        "there",
        "there",
    ]
    client, server = "10.0.0.1:5001", "10.0.1.2:80"
    assert table["from"].to_list() == [client, server, client, server, client, client]
    assert table["to"].to_list() == [server, client, server, client, server, server]
    assert table["number"].to_list() == [100, 900, 101, 901, 200, 201]
    assert table["ack"].to_list() == [0, 101, 901, 200, 901, 901]
    # A total length of 0 marks a segment that the network card splits; the captured length counts.
    assert table["payload_bytes"].to_list() == [0, 0, 99, 0, 1, 0]
    assert table["syn"].to_list() == [True, True, False, False, False, False]
    assert table["dropped"].to_list() == [False, False, False, False, True, False]
    blocks = [[], [], [], [[300, 400], [600, 650]], [], []]
    assert table["sack"].to_list() == blocks


def test_windows_are_scaled_as_each_end_said_with_its_syn(run: Path) -> None:
    """Check that windows are scaled by the shift that each end announced in its SYN.

    Windows of SYNs are not scaled (RFC 7323, section 2.2).
    """
    assert packets(run)["window_bytes"].to_list() == [65535, 8000, 512 << 7, 512, 1 << 7, 1 << 7]


@pytest.mark.parametrize(
    ("from_s", "to_s", "count"),
    [
        (None, None, 6),
        (5.0, None, 4),
        (None, 5.0, 3),
        (1.5, 6.0, 3),
        (9.0, None, 0),
        (None, 0.0, 0),
    ],
)
def test_a_part_of_a_capture_includes_its_ends(
    run: Path, from_s: float | None, to_s: float | None, count: int
) -> None:
    part = packets(run, from_s, to_s)
    assert len(part) == count
    assert part.columns == packets(run).columns
    # Window scaling also uses a SYN before the selected part.
    assert 512 not in part.filter(pl.col("link") == "there")["window_bytes"].to_list()


def test_packets_of_a_run_are_those_of_its_tables(tmp_path: Path) -> None:
    settings = ["measure.capture=['bottleneck', 'bottleneck-reverse']", "measure.from=0 s"]
    finished = longhaul.run(SMALL, out=tmp_path / "run", set=[*settings, "duration=3 s"])
    table = packets(finished.path)
    for link in finished.links.filter(pl.col("name").str.starts_with("bottleneck")).to_dicts():
        part = table.filter(pl.col("link") == link["name"])
        assert len(part) == link["arrived_pkts"] > 100
        assert part["dropped"].sum() == link["dropped_overflow_pkts"]
    sent = table.filter(pl.col("payload_bytes") > 0)
    assert sent["link"].unique().to_list() == ["bottleneck"]
    assert sent["from"].n_unique() == finished.flows.height
    assert set(sent["from"]) == set(table.filter(pl.col("link") != "bottleneck")["to"])
    blocks = [one for sack in table["sack"] for one in sack]
    assert blocks
    assert all(left < right for left, right in blocks)
