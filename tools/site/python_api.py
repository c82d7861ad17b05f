"""Writer of the pages on the Python interface, from signatures and docstrings."""

import ast
import inspect
from collections.abc import Iterable
from pathlib import Path

from tools.site.markdown import ROOT, Pages, block, page, section, toctree

PACKAGE = ROOT / "python" / "longhaul"

Section = tuple[str, str, dict[str, str]]
"""A page of the reference: title, text, and the names that it describes, by source file."""

SECTIONS: dict[str, Section] = {
    "running": (
        "Running scenarios",
        "`import longhaul` has these functions: `longhaul.run`, `longhaul.load`, `longhaul.open` (here `open_run`).",
        {"running/execution.py": "run", "running/loading.py": "load", "results/run.py": "open_run", "_engine.pyi": "Scenario TimeLimit"},
    ),
    "results": (
        "Results and plots",
        "The results that `longhaul.run` and `longhaul.open` return, and functions that use them: `longhaul.plot`, `longhaul.compare`, `longhaul.report`. "
        "[Tables of a run](../tables/index.md) lists the columns.",
        {
            "results/run.py": "Results", "results/summary.py": "Summary", "plots/__init__.py": "plot", "comparison/__init__.py": "compare",
            "reports.py": "report",
        },
    ),
    "congestion": (
        "Congestion control in Python",
        "Your own algorithm is a subclass of `longhaul.CongestionControl`: "
        "[Congestion control algorithms in Python](../../python-algorithms.md).",
        {
            "congestion.py": "CongestionControl",
            "_engine.pyi": "Ack Congestion Timeout Window Tabulated exp log power",
        },
    ),
    "errors": (
        "Errors",
        "Every rejection of input and every failure of Longhaul is a `longhaul.LonghaulError`.",
        {
            "_engine.pyi": "LonghaulError ScenarioError OutputError RunError AlgorithmError",
            "results/files.py": "ResultsError",
        },
    ),
    "registries": (
        "Registries",
        "The registries of algorithms, queues, keys and other choices, as lists and dictionaries (`longhaul._engine`), from which this reference is generated. `longhaul list WHAT --json` prints the same.",
        {"_engine.pyi": "algorithms queues scenario_keys traffic profiles columns schema results_version"},
    ),
}  # fmt: skip

PACKAGES = ("analysis", "designs", "campaign", "models", "mesonet")
"""Packages of which all modules and public names are listed."""


def write(pages: Pages) -> None:
    """Write the pages on the Python interface, and their index."""
    for name, (title, text, parts) in SECTIONS.items():
        lines = page(title, text)
        for file, names in parts.items():
            lines += _definitions(PACKAGE / file, names.split())
        pages.write(f"python/{name}.md", lines)
    for name in PACKAGES:
        pages.write(f"python/{name}.md", _package(name))
    index = page("Python interface", *_INDEX, toctree([*SECTIONS, *PACKAGES]))
    pages.write("python/index.md", index)


def _package(name: str) -> list[str]:
    files = sorted(
        (PACKAGE / name).glob("*.py"), key=lambda file: (file.stem != "__init__", file.stem)
    )
    head = ast.get_docstring(ast.parse(files[0].read_text(encoding="utf-8"))) or ""
    lines = page(f"`longhaul.{name}`", _prose(head))
    for file in files[1:]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        public = [node for node in tree.body if _is_public(node)]
        if public:
            about = _prose(ast.get_docstring(tree) or "")
            lines += section(f"`longhaul.{name}.{file.stem}`", about)
            for node in public:
                assert isinstance(node, ast.FunctionDef | ast.ClassDef)
                lines += _definition(node, 3, members=False)
    return lines


def _is_public(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")


def _definitions(file: Path, names: Iterable[str]) -> list[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    return [line for name in names for line in _definition(nodes[name], 2)]


def _definition(
    node: ast.FunctionDef | ast.ClassDef, level: int, *, members: bool = True
) -> list[str]:
    about = _prose(ast.get_docstring(node) or "")
    if isinstance(node, ast.FunctionDef):
        return section(f"`{node.name}`", block("python", _signature(node)), about, level=level)
    lines = section(f"`{node.name}`", about, level=level)
    for member in node.body if members else ():
        if isinstance(member, ast.FunctionDef) and (
            not member.name.startswith("_") or member.name == "__init__"
        ):
            lines += _member(member)
    return lines


def _member(node: ast.FunctionDef) -> list[str]:
    """Return the lines for a method or property: an entry of a definition list."""
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    is_property = any("property" in decorator for decorator in decorators)
    if is_property:
        returned = ast.unparse(node.returns) if node.returns else ""
        head = f"`{node.name}`: `{returned}`"
    else:
        head = f"`{_signature(node).removeprefix('def ')}`".replace("self, ", "").replace(
            "(self)", "()"
        )
    text = " ".join((ast.get_docstring(node) or "").split())
    return [head, f": {text or 'no further description.'}", ""]


def _signature(node: ast.FunctionDef) -> str:
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    text = f"def {node.name}({ast.unparse(node.args)}){returned}"
    return text if len(text) < 90 else text.replace(", ", ",\n    ").replace("(", "(\n    ", 1)


def _prose(text: str) -> list[str]:
    """Return a docstring as Markdown; indented blocks are code."""
    lines: list[str] = []
    for piece in inspect.cleandoc(text).split("\n\n"):
        if piece.startswith("    "):
            lines += [*block("python", inspect.cleandoc(piece)), ""]
        else:
            lines += [piece, ""]
    return lines


_INDEX = (
    block("python", """\
import longhaul

results = longhaul.run("scenario.toml")
print(results.summary().labels)
again = longhaul.open("r1")  # a run directory"""),
    "The functions have the same names as the commands of the command line: `longhaul.run`, `longhaul.plot`, `longhaul.compare`, `longhaul.report`. "
    "Tables are Polars data frames.",
)  # fmt: skip
