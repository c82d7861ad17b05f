"""Writer of `llms.txt`, which tells language models how to write scenarios, with links."""

from longhaul import _engine
from longhaul.files.writing import write_text
from tools.site.markdown import DOCS

FILE = DOCS / "static" / "llms.txt"

HEAD = """# Longhaul

> A packet-level simulator of TCP congestion control over long fat networks: one scenario file (TOML) in, tables (Parquet), plots and
> a report out. Command line `longhaul`, Python `import longhaul`.

A scenario that runs:

```toml
duration = "60 s"

[topology.dumbbell.bottleneck]
rate  = "1 Gbps"
delay = "50 ms"
queue = { kind = "droptail", limit = "1 BDP" }

[[flows]]
label = "cubic"
count = 2
congestion = { kind = "cubic" }
```

`longhaul check FILE` reports the errors of a scenario with the nearest valid names; `longhaul run FILE --out DIR` runs it;
`longhaul list WHAT --json` prints any list below with all details; `longhaul schema` is the JSON Schema of scenario files.
Every quantity is a text with a unit: "100 ms", "1 Gbps", "64 KiB", "2 BDP".
"""

PAGES = (
    ("tutorials/first-answer.html", "ten minutes: will HSTCP starve my other flows?"),
    ("tutorials/own-algorithm.html", "a congestion control algorithm in Python"),
    ("howto/index.html", "topologies, traces, sweeps, captures, testbeds, coming from other tools"),
    ("reference/index.html", "algorithms, queues, keys, tables, commands, Python"),
    ("limitations.html", "what is not modelled"),
    ("faq.html", "messages and what to do"),
)


def write() -> None:
    """Write `llms.txt`."""
    registry = _engine.algorithms()
    lines = [HEAD]
    for title, rows in (
        ("Congestion control: `congestion = { kind = ... }`", registry["algorithms"]),
        ("Slow start: `slow_start = { kind = ... }`", registry["slow_starts"]),
        ("Queues: `queue = { kind = ... }`", _engine.queues()),
    ):
        lines += [
            f"## {title}",
            "",
            *(f"- {row['name']}: {row['title']} ({row['source']})" for row in rows),
            "",
        ]
    lines += ["## Pages", "", *(f"- [{text}]({page})" for page, text in PAGES), ""]
    write_text(FILE, "\n".join(lines))
