"""Files of the playground's page: the engine as WebAssembly, and scenarios to begin with."""

import base64
import gzip
import json

from longhaul.files.writing import write_text
from longhaul.plots.styles import places_on_site
from tools.site.examples import Examples
from tools.site.markdown import DOCS, ROOT

FILE = DOCS / "static" / "playground-engine.js"
MODULE = ROOT / "target/wasm32-unknown-unknown/playground/longhaul_playground.wasm"

SCENARIOS = (
    "one_flow",
    "hstcp_beside_sack",
    "codel_or_pie",
    "fair_queues",
    "gentle_adaptive_red",
    "l4s",
    "parking_lot",
    "reordering",
)
"""Short ones, without files beside them."""


def write(examples: Examples) -> None:
    """Write the file; without the module, the page says how to get it."""
    if not MODULE.exists():
        write_text(
            FILE, "// Built without the compiler's target for WebAssembly: see `make playground`.\n"
        )
        return
    known = {example.name: example for example in examples.all}
    loaded = {
        "module": base64.b64encode(gzip.compress(MODULE.read_bytes(), mtime=0)).decode(),
        "colours": places_on_site(),
        "scenarios": {
            name: {"title": known[name].title, "text": known[name].text} for name in SCENARIOS
        },
    }
    write_text(FILE, f"window.PLAYGROUND = {json.dumps(loaded)};\n")
