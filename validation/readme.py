"""Update of the numbers of README's first scenario: `make readme`.

The scenario is read from README and simulated. README's table of the results is rewritten and
printed. `tests/project/test_readme.py` checks this table.
"""

import re
import sys

import longhaul
from longhaul.comparison import table
from validation.pages import ROOT

README = ROOT / "README.md"
_SCENARIO = re.compile(r"## A first scenario\n+```toml\n(.*?)```", re.DOTALL)
_TABLE = re.compile(r"(prints, among other rows.*?\n+```\n)(.*?)(```)", re.DOTALL)


def scenario(text: str) -> str:
    """Return the first scenario in `text`, the README."""
    match = _SCENARIO.search(text)
    assert match is not None, "README has a first scenario"
    return match[1]


def shown(text: str) -> str:
    """Return the table of the first scenario's results in `text`, the README."""
    match = _TABLE.search(text)
    assert match is not None, "README shows a table of its first scenario"
    return match[2]


def measured(text: str) -> str:
    """Return the results table of `text`, the README, with values from a run of its scenario."""
    run = longhaul.run(scenario(text))
    whole = table([run])
    labels = whole.runs[0][1]
    rows = {(block.heading, title): cells for block in whole.blocks for title, cells in block.rows}
    lines = ["".join([" " * 22, *(f"{label:>10}" for label in labels)])]
    heading = ""
    for line in shown(text).splitlines()[1:]:
        title = line.strip()
        if not title:
            lines.append("")
        elif title in {block.heading for block in whole.blocks} and line.startswith(" " + title):
            heading = title
            lines.append(f" {title}")
        else:
            name = max((t for h, t in rows if h == heading and title.startswith(t)), key=len)
            cells = "".join(f"{cell:>10}" for cell in rows[heading, name])
            lines.append(f" {name:<21}{cells}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def refreshed(text: str) -> str:
    """Return `text`, the README, with current numbers in its table."""
    new = measured(text)
    return _TABLE.sub(lambda match: match[1] + new + match[3], text, count=1)


if __name__ == "__main__":
    README.write_text(refreshed(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(shown(README.read_text(encoding="utf-8")))
