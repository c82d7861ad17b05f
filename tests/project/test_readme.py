"""Statements of README and the documents agree with the commands' output."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest
from conftest import CommandLine
from test_documents import written

from longhaul.plots import PLOTS
from validation import readme

ROOT = Path(__file__).parents[2]


def test_the_numbers_of_the_first_scenario_are_those_of_today() -> None:
    text = readme.README.read_text(encoding="utf-8")
    assert readme.shown(text) == readme.measured(text), "refresh them with `make readme`"


def test_the_first_scenario_is_the_one_that_ships() -> None:
    text = readme.README.read_text(encoding="utf-8")
    shipped = (ROOT / "scenarios" / "hstcp_beside_sack.toml").read_text(encoding="utf-8")

    def lines(scenario: str) -> set[str]:
        return {" ".join(line.partition("#")[0].split()) for line in scenario.splitlines()}

    assert lines(readme.scenario(text)) <= lines(shipped)


HELP: dict[tuple[str, ...], str] = {}


def help_of(cli: CommandLine, *words: str) -> str:
    """Return the help of a command, cached; empty if there is no such command."""
    if words not in HELP:
        answer = cli(*words, "--help")
        HELP[words] = answer.stdout if answer.returncode == 0 else ""
    return HELP[words]


@pytest.mark.parametrize(
    "document", ["README.md", *(path.relative_to(ROOT).as_posix() for path in written())]
)
def test_commands_have_verbs_and_options_that_exist(document: str, cli: CommandLine) -> None:
    # A command may continue on the next line.
    text = (ROOT / document).read_text(encoding="utf-8").replace("\\\n", " ")
    commands = re.findall(r"^longhaul ([a-z].*)$", text, re.MULTILINE)
    commands += re.findall(r"`longhaul ([a-z][^`\n]*)`", text)
    for command in commands:
        # A command after `--` is another program's.
        words = list(takewhile(lambda word: word != "--", shlex.split(command, comments=True)))
        command_words = words[: 2 if words[0] in ("campaign", "study", "model", "module") else 1]
        help_text = help_of(cli, *command_words)
        assert help_text, command
        for option in (word.partition("=")[0] for word in words if word.startswith("--")):
            assert option in help_text, command
        # docs/contributing.md names a plot that its recipe adds.
        if words[:2] == ["plot", "RUN"] and document != "docs/contributing.md":
            named = takewhile(lambda word: not word.startswith("--"), words[2:])
            assert set(named) <= PLOTS.keys(), command
