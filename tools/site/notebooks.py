"""Writer of pages for the notebooks in `examples/notebooks`: text, code, and output."""

import ast
import hashlib
import io
import json
import runpy
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import polars as pl
from matplotlib.figure import Figure

from longhaul import _engine
from tools.site.markdown import ROOT, Pages, block, html, table, toctree
from tools.site.runs import cached

NOTEBOOKS = sorted(ROOT.glob("examples/notebooks/*.py"))

HEAD = """# Notebooks

These notebooks are Python files for [marimo](https://marimo.io), which runs the cells that depend on a changed cell. A test runs each notebook. With
`pip install marimo` they open in the browser; without its editor, `python FILE` runs them from top to bottom.

```sh
marimo edit run_to_figure.py
```

"""


def write(pages: Pages) -> None:
    """Write a page for each notebook, and their list."""
    lines = [HEAD]
    for file in NOTEBOOKS:
        page = _page(file)
        pages.write(f"{file.stem}.md", page)
        lines.append(f"- [{page[0].removeprefix('# ')}]({file.stem}.md)")
    pages.write(
        "index.md", [*lines, "", *toctree((notebook.stem for notebook in NOTEBOOKS), hidden=True)]
    )


def _page(file: Path) -> list[str]:
    lines: list[str] = []
    for source, output in zip(cells(file.read_text(encoding="utf-8")), shown(file), strict=True):
        if text := _markdown(source):
            lines += [text, ""]
        elif source != "import marimo as mo":
            lines += [*block("python", source), "", *output, ""]
    path = file.relative_to(ROOT).as_posix()
    lines.insert(1, f"\n{{download}}`{file.name} <../../{path}>`\n")
    return "\n".join(lines).splitlines()


def cells(text: str) -> Iterator[str]:
    """Yield the source of each cell of a notebook, without its decorator."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            body = [statement for statement in node.body if not isinstance(statement, ast.Return)]
            lines = text.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
            yield textwrap.dedent("\n".join(lines))


def _markdown(source: str) -> str | None:
    """Return the text of a cell that consists of text only; None for all other cells."""
    statement = ast.parse(source).body[0]
    if not source.startswith("mo.md(") or not isinstance(statement, ast.Expr):
        return None
    assert isinstance(statement.value, ast.Call)
    return textwrap.dedent(ast.literal_eval(statement.value.args[0])).strip()


def shown(file: Path) -> list[list[str]]:
    """Return the output of each cell of a notebook as lines of a page; outputs are cached."""

    def ran() -> str:
        plt.switch_backend("agg")
        app: Any = runpy.run_path(str(file))["app"]
        outputs, _ = app.run()
        text = json.dumps([_lines(output) for output in outputs])
        plt.close("all")
        return text

    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:24]
    key = f"{digest}-{_engine.results_version()}-notebook.json"
    lines: list[list[str]] = json.loads(cached(key, ran))
    return lines


def _lines(output: object) -> list[str]:
    if isinstance(output, Figure):
        picture = io.StringIO()
        output.savefig(picture, format="svg", metadata={"Date": None})
        return html(f'<div class="figure">{picture.getvalue().partition("?>")[2]}</div>')
    if hasattr(output, "reset_index"):  # a data frame of pandas, with its index as a column
        output = pl.from_pandas(output.reset_index())
    if isinstance(output, pl.DataFrame):
        return table([f"{name}:" for name in output.columns], map(_cells, output.rows()))
    return block("text", str(output)) if isinstance(output, list) else []


def _cells(row: tuple[object, ...]) -> list[str]:
    return [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
