"""Fragments of scenarios on pages: each is inserted into a whole scenario and checked."""

import ast
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import CommandLine
from page_blocks import blocks_of
from test_documents import written

import longhaul
from longhaul import _engine, modules
from tools.site.examples import toml

ROOT = Path(__file__).parents[2]

BASE = """
duration = "90 s"

[topology.dumbbell.bottleneck]
rate  = "50 Mbps"
delay = "20 ms"
queue = { kind = "droptail", limit = "100 packets" }

[[flows]]
label = "flow"
"""

LINK = "topology.dumbbell.bottleneck."
TOP = {"duration", "seed", "replication", "profile", "title", "measure", "tcp"}


def keys_below(prefix: str) -> set[str]:
    names = [row["name"] for row in _engine.scenario_keys() if row["name"].startswith(prefix)]
    return {re.split(r"[.[]", name.removeprefix(prefix))[0] for name in names}


LINKS, FLOWS = keys_below(LINK), keys_below("flows.*.")
RED = {
    key["name"]
    for queue in _engine.queues()
    if queue["name"] == "red"
    for key in queue["parameters"]
}
INLINE = re.compile(r"`((?:tcp\.|measure\.)?[a-z_]+ ?= ?[^`]+)`")

NOT_A_SCENARIO = {
    *("campaigns.md", "sweeps.md", "contributing.md", "studies.md", "designs.md", "analysis.md"),
    *("models.md", "mesonet.md", "response-functions.md"),
}
"""Pages whose fragments belong to campaigns, studies or formulas."""


def placed(piece: dict[str, Any]) -> Iterator[str]:
    """Yield overrides that insert the fragment `piece` at its place in a scenario."""
    for key, value in piece.items():
        shown = toml(value)
        if key in TOP:
            yield from nested(key, value)
        elif key in LINKS and not (key == "rate" and piece.get("protocol")):
            yield f"{LINK}{key}={shown}"
        elif key in FLOWS:
            yield f"flows.0.{key}={shown}"
        elif key in RED:
            yield f"{LINK}queue.{key}={shown}"
        else:
            raise AssertionError(f"nothing has the key {key}")


def nested(path: str, value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from nested(f"{path}.{key}", one)
    else:
        yield f"{path}={toml(value)}"


def pieces(page: Path) -> Iterator[str]:
    """Yield the fragments of scenarios on a page."""
    for block in blocks_of(page):
        if block.language == "toml" and block.file is None:
            yield block.text
    if page.parent.name == "howto" or page.name in {"faq.md", "limitations.md"}:
        prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        yield from (text for text in INLINE.findall(prose) if "..." not in text)


PIECES = [
    pytest.param(text, id=f"{page.name}: {text[:40]}")
    for page in written()
    if page.name not in NOT_A_SCENARIO
    for text in pieces(page)
]


@pytest.mark.parametrize("text", PIECES)
def test_a_piece_of_a_scenario_is_valid(text: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(BASE)
    for name in ("cell.down", "mine.up", "cell.up"):
        (tmp_path / name).write_text("1\n2\n5\n")
    (tmp_path / "aimd.py").write_text(
        next(block.text for block in blocks_of(ROOT / "docs/python-algorithms.md") if block.file)
    )
    if '"tcp_sawtooth.so"' in text:
        if shutil.which("cc") is None:
            pytest.skip("no C compiler")
        modules.build([ROOT / "examples" / "tcp_sawtooth.c"], tmp_path / "tcp_sawtooth.so")
    # A block may list alternatives, one below the other.
    for piece in alternatives(text):
        given = list(overrides(piece))
        in_folder = [one.replace('"aimd.py:', f'"{tmp_path}/aimd.py:') for one in given]
        in_folder = [one.replace('"tcp_saw', f'"{tmp_path}/tcp_saw') for one in in_folder]
        in_folder = [re.sub(r'file = "', f'file = "{tmp_path}/', one) for one in in_folder]
        longhaul.load(tmp_path / "s.toml", set=in_folder)


def alternatives(text: str) -> list[dict[str, Any]]:
    try:
        return [tomllib.loads(text)]
    except tomllib.TOMLDecodeError:
        return [tomllib.loads(line) for line in text.splitlines()]


def overrides(piece: dict[str, Any]) -> Iterator[str]:
    """Yield the overrides that insert the fragment `piece` into a scenario with one flow."""
    piece = dict(piece)
    for flow in piece.pop("flows", []):
        yield from placed(flow)
    if proxies := piece.pop("proxies", None):
        yield 'topology.dumbbell.access.delay="1 ms"'
        yield f"proxies={toml(proxies)}"
    if topology := piece.pop("topology", None):
        if link := topology.get("dumbbell", {}).get("bottleneck"):
            yield from placed(link)
        else:
            yield f"topology={toml(topology)}"
    if "variant" in piece:
        congestion = {"kind": "cubic", "variant": piece.pop("variant")}
        yield f"flows.0.congestion={toml(congestion)}"
    if set(piece) & RED and not set(piece) & (LINKS | FLOWS):
        yield f'{LINK}queue={{ kind = "red", limit = "100 packets" }}'
    if "spacing" in piece or piece.get("protocol") == "udp":
        yield 'flows.0={ protocol = "udp", rate = "1 Mbps" }'
    yield from placed(piece)


SELF_CONTAINED = ("designs.md", "models.md")


@pytest.mark.parametrize("name", SELF_CONTAINED)
def test_python_of_a_page_runs(name: str) -> None:
    for block in blocks_of(ROOT / "docs" / name):
        if block.language == "python":
            exec(compile(block.text, name, "exec"), {})


def test_all_python_on_pages_is_python() -> None:
    for page in written():
        for block in blocks_of(page):
            if block.language == "python" and not block.text.startswith("@"):
                tree = ast.parse(block.text)
                for node in ast.walk(tree):
                    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("longhaul"):
                        exec(compile(ast.Module([node], []), page.name, "exec"), {})


SHOWN = re.compile(r"^```\n\$ longhaul (design.*?)^```", re.MULTILINE | re.DOTALL)


def test_commands_shown_with_their_output_print_it(cli: CommandLine) -> None:
    text = (ROOT / "docs/designs.md").read_text(encoding="utf-8")
    shown = SHOWN.findall(text)
    assert len(shown) == 2
    for block in shown:
        command, _, output = block.partition("\n")
        answer = cli(*command.split())
        printed = " ".join((answer.stdout + answer.stderr).split())
        for line in output.splitlines():
            assert " ".join(line.split()).rstrip(" .") in printed, line
