"""Shipped scenarios with random mistakes, drawn by seed."""

import random
import re
from functools import partial
from pathlib import Path

SCENARIOS = Path(__file__).parents[2] / "scenarios"

# Values of mutations: all types, extreme values, and nonsense.
VALUES = (
    "0", "1", "-1", "1e300", "-1e-300", "nan", "inf", "9223372036854775807", "99999999999999999999",
    "true", "[]", "{}", '""', '"x"', '"0 s"', '"1 ps"', '"-1 s"', '"1 us"', '"1 s"', '"1e9 s"',
    '"1 bps"', '"1 kbps"', '"10 Gbps"', '"1e30 Gbps"', '"1 B"', '"0 B"', '"1 TB"', '"1 BDP"',
    '"0.001 BDP"', '"1 packet"', '"100000 packets"', '"red"', '"codel"', '"fq-codel"', '"bbr"',
    '"hstcp"', '"udp"', '{ kind = "pie" }', '{ kind = "bbr3" }', '{ uniform = ["0 s", "1 s"] }',
    '["0 s"]', '"\\u0000"', '"' + "é" * 40 + '"', "'''\n\n'''", "1979-05-27", '"rfc"', '"linux"',
)  # fmt: skip
_PAIR = re.compile(r"([A-Za-z_.\"-]+)(\s*=\s*)([^,\n}#]+)")


def mutated(seed: int) -> tuple[str, str]:
    """Return the name of a shipped scenario, and its text with one to four random mistakes."""
    draw = random.Random(seed)
    file = draw.choice(sorted(SCENARIOS.glob("*.toml")))
    text = file.read_text(encoding="utf-8")
    for _ in range(draw.randint(1, 4)):
        text = draw.choice(_MISTAKES)(text, draw)
    return file.name, text


def _other_value(text: str, draw: random.Random) -> str:
    pairs = list(_PAIR.finditer(text))
    if not pairs:
        return text
    pair = draw.choice(pairs)
    return text[: pair.start(3)] + draw.choice(VALUES) + text[pair.end(3) :]


def _of_another_key(part: int, text: str, draw: random.Random) -> str:
    """Overwrite a random key's name (`part` 1) or value (`part` 3) with that of another key."""
    pairs = list(_PAIR.finditer(text))
    if not pairs:
        return text
    pair, other = draw.choice(pairs), draw.choice(pairs)
    return text[: pair.start(part)] + other[part] + text[pair.end(part) :]


_other_key, _value_of_another_key = partial(_of_another_key, 1), partial(_of_another_key, 3)


def _other_number(text: str, draw: random.Random) -> str:
    numbers = list(re.finditer(r"\d+(\.\d+)?", text))
    if not numbers:
        return text
    number = draw.choice(numbers)
    factor = draw.choice((0, 1e-6, 0.1, 0.5, 2, 10, 1e3, 1e6, 1e12))
    return text[: number.start()] + f"{float(number[0]) * factor:g}" + text[number.end() :]


def _line_gone(text: str, draw: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        del lines[draw.randrange(len(lines))]
    return "".join(lines)


def _line_twice(text: str, draw: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        lines.insert(draw.randrange(len(lines)), draw.choice(lines))
    return "".join(lines)


def _cut_short(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text) + 1)]


def _odd_character(text: str, draw: random.Random) -> str:
    place = draw.randrange(len(text) + 1)
    return text[:place] + draw.choice("\0\"'[]{}=.\\\n\t#é\U0001f600") + text[place:]


# Mutations that often leave a legal scenario are listed several times.
_MISTAKES = (
    _other_value, _other_value, _other_value, _other_number, _other_number, _other_number,
    _value_of_another_key, _value_of_another_key, _other_key, _line_gone, _line_twice, _cut_short,
    _odd_character,
)  # fmt: skip
