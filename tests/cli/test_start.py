"""Start of commands: none loads heavy libraries without need, and all are found."""

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from conftest import CommandLine

from longhaul.cli import commands
from longhaul.guide import catalogue
from longhaul.results import kinds

# Libraries that take longer to load than a short run takes.
HEAVY = ("polars", "numpy", "scipy", "matplotlib", "statsmodels", "pandas", "pydantic")
TABLES = {
    (): commands.ROOT,
    ("campaign",): commands.CAMPAIGN,
    ("study",): commands.STUDY,
    ("model",): commands.MODEL,
    ("module",): commands.MODULE,
}
# Program that runs each command and prints the loaded ones of the libraries in its first argument.
LOADED = """
import json, sys
heavy, commands = sys.argv[1].split(","), json.loads(sys.argv[2])
from longhaul.cli import app
for words in commands:
    sys.argv = ["longhaul", *words]
    try:
        if words:
            app()
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)
print("loaded:", *[name for name in heavy if name in sys.modules])
"""


def loaded(*words: str, libraries: tuple[str, ...] = HEAVY, **environment: str) -> list[str]:
    """Return the libraries that a command has loaded when it ends."""
    return loaded_by(words, libraries=libraries, **environment)


def loaded_by(
    *commands: tuple[str, ...], libraries: tuple[str, ...] = HEAVY, **environment: str
) -> list[str]:
    """Return those of `libraries` that are loaded after `commands` ran in one process."""
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, ",".join(libraries), json.dumps(commands)],
        capture_output=True, text=True, check=True, env={**os.environ, **environment},
    )  # fmt: skip
    return ended.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("--help",),
        ("campaign", "--help"),
        ("list", "algorithms"),
        ("list", "keys"),
        ("check", "SMALL"),
        ("explain", "SMALL"),
        ("new", "NEW"),
        ("schema",),
    ],
    ids=" ".join,
)
def test_a_command_loads_no_library_that_it_does_not_use(
    words: tuple[str, ...], small: Path
) -> None:
    files = {"SMALL": str(small), "NEW": str(small.with_name("new.toml"))}
    assert loaded(*(files.get(word, word) for word in words)) == []


def test_the_version_is_printed_without_a_library_for_tables() -> None:
    assert loaded("--version", libraries=("rich.console",)) == []


def test_a_command_that_reads_results_does_not_draw(
    small: Path, tmp_path: Path, cli_process: CommandLine
) -> None:
    run = str(tmp_path / "r1")
    assert "matplotlib" not in loaded_by(("run", str(small), "--out", run), ("compare", run))
    drawn = ("plot", run, "cwnd", "--out", str(tmp_path / "p.svg"))
    assert "scipy" not in loaded_by(drawn, ("report", run, "--out", str(tmp_path / "r.html")))
    assert loaded("plot", "--help") == loaded("run", "--help")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pl", ["plot"]),
        ("campaign r", ["run", "resume", "report"]),
        ("run --me", ["--memory"]),
        ("model pa", ["parallel-tcp", "path"]),
    ],
)
def test_names_and_options_are_completed(typed: str, expected: list[str]) -> None:
    words = ["longhaul", *typed.split()]
    asked = {
        "_LONGHAUL_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    program = Path(sys.executable).with_name("longhaul")
    ended = subprocess.run(
        [program], capture_output=True, text=True, check=True, env={**os.environ, **asked}
    )
    assert ended.stdout.split() == expected


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("chek", "a.toml"), "check"), (("campaign", "rn"), "run"), (("study", "clams"), "claims")],
)
def test_the_nearest_command_is_suggested(
    words: tuple[str, ...], meant: str, cli: CommandLine
) -> None:
    refused = cli(*words)
    assert refused.returncode == 2
    assert f"Did you mean '{meant}'" in refused.stderr


@pytest.mark.parametrize("group", TABLES)
def test_lines_of_help_are_those_of_the_commands(group: tuple[str, ...]) -> None:
    for name, place, line, _ in TABLES[group]:
        module, function = place.split(".")
        text = inspect.getdoc(getattr(import_module(f"longhaul.cli.{module}"), function))
        assert text is not None, name
        assert " ".join(text.partition("\n\n")[0].split()) == line, name


def test_lists_know_the_tables_of_kinds_of_simulation() -> None:
    assert catalogue.OWN_TABLES == kinds.OWN_TABLES


def test_the_program_draws_without_the_help_of_setters() -> None:
    asked = "from matplotlib.lines import Line2D; print('antialiased' in Line2D.set.__doc__)"
    for before, there in (("", "True"), ("import longhaul.cli; ", "False")):
        ended = subprocess.run(
            [sys.executable, "-c", before + asked], capture_output=True, text=True, check=True
        )
        assert ended.stdout.strip() == there
