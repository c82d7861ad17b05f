"""Writer of the playground's files: the engine as WebAssembly, and initial scenarios."""

import base64
import gzip
import json
from itertools import takewhile

from longhaul import _engine
from longhaul.files.writing import write_text
from longhaul.plots.styles import places_on_site
from tools.site.examples import Examples
from tools.site.markdown import DOCS, ROOT

FILE = DOCS / "static" / "playground-engine.js"
MODULE = ROOT / "target/wasm32-unknown-unknown/playground/longhaul_playground.wasm"

FIRST = """\
duration = "20 s"
measure  = { from = "5 s" }

[topology.dumbbell.bottleneck]
rate  = "50 Mbps"
delay = "20 ms"
queue = { kind = "droptail", limit = "1 BDP" }

[[flows]]
label = "first"
congestion = { kind = "cubic" }

[[flows]]
label = "second"
congestion = { kind = "bbr3" }
start = "2 s"
"""
"""The scenario that the page shows first: two flows, which sliders change."""

SCENARIOS = (
    "one_flow", "hstcp_beside_sack", "codel_or_pie", "fair_queues", "gentle_adaptive_red", "l4s", "parking_lot",
    "reordering",
)  # fmt: skip
"""Names of scenarios to choose from: short ones that need no other files."""


def without_commands(text: str) -> str:
    """Return a scenario without the comment at its top if the comment contains commands.

    Commands cannot be run in a browser.
    """
    head = list(takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True)))
    return text.removeprefix("".join(head)).lstrip("\n") if "--set" in "".join(head) else text


def write(examples: Examples) -> None:
    """Write the script file that contains the engine as a WebAssembly module and the scenarios.

    If the module was not built, the file is empty, and the page explains how to build it.
    """
    if not MODULE.exists():
        write_text(
            FILE, "// Built without the compiler's target for WebAssembly: see `make playground`.\n"
        )
        return
    known = {example.name: example for example in examples.all}
    loaded = {
        "module": base64.b64encode(gzip.compress(MODULE.read_bytes(), mtime=0)).decode(),
        "colours": places_on_site(),
        "algorithms": [
            row["name"] for row in _engine.algorithms()["algorithms"] if row["name"] != "table"
        ],
        "scenarios": {
            "first": {"title": "Two flows", "text": FIRST},
            **{
                name: {"title": known[name].title, "text": without_commands(known[name].text)}
                for name in SCENARIOS
            },
        },
    }
    write_text(FILE, f"window.PLAYGROUND = {json.dumps(loaded)};\n")
