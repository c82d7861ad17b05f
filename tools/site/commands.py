"""Writer of a page for each command, from its `--help`."""

import inspect
from collections.abc import Iterator

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from longhaul.cli import app
from longhaul.cli.lazy import Deferred
from tools.site.markdown import Pages, block, code, page, section, table, toctree


def write(pages: Pages) -> None:
    """Write a page on each command, and the index of these pages."""
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    names: list[str] = []
    rows = []
    for words, command in _commands(root, ()):
        name = "-".join(words)
        names.append(name)
        pages.write(f"commands/{name}.md", _page(words, command))
        rows.append((f"[`longhaul {' '.join(words)}`]({name}.md)", _pieces(command)[0]))
    index = page(
        "Commands",
        "`longhaul COMMAND --help` prints the same. The exit code is 0 after success, 2 after invalid input, and 1 after a failure; `evaluate` also has 3, if a required criterion does not hold. Ctrl-C, SIGTERM and `--limit` stop a run within a second and keep the recorded part.",
        table(["command", ""], rows),
        toctree(names, hidden=True),
    )
    pages.write("commands/index.md", index)


def _commands(
    group: TyperGroup, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _commands(command, (*words, name))
        else:
            assert isinstance(command, Deferred)
            yield (*words, name), command.loaded()


def _pieces(command: TyperCommand) -> list[str]:
    """Return the paragraphs of a command's help, each on one line."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs]


def _page(words: tuple[str, ...], command: TyperCommand) -> list[str]:
    title = f"longhaul {' '.join(words)}"
    arguments = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    options = [
        given for given in command.params if isinstance(given, TyperOption) and not given.hidden
    ]
    usage = " ".join([title, "[OPTIONS]", *(_metavar(argument) for argument in arguments)])
    lines = page(f"`{title}`", "\n\n".join(_pieces(command)), block("text", usage))
    if arguments:
        rows = (
            (code(_metavar(argument)), argument.help or "", _default(argument))
            for argument in arguments
        )
        lines += section("Arguments", table(["argument", "meaning", "default"], rows))
    if options:
        rows_of_options = (
            (" ".join(map(code, (*option.opts, *option.secondary_opts))), _value(option), option.help or "", _default(option))
            for option in options
        )  # fmt: skip
        lines += section(
            "Options", table(["option", "value", "meaning", "default"], rows_of_options)
        )
    if command.epilog:
        lines += section("Example", block("sh", command.epilog.removeprefix("Example: ")))
    return lines


def _metavar(parameter: TyperArgument | TyperOption) -> str:
    return parameter.metavar or (parameter.name or "").upper()


def _value(option: TyperOption) -> str:
    return "" if option.is_flag else code(_metavar(option))


def _default(parameter: TyperArgument | TyperOption) -> str:
    if isinstance(parameter.show_default, str):
        return code(parameter.show_default)
    default = parameter.default
    if default is None or default is False or callable(default) or default in ((), []):
        return "required" if parameter.required else ""
    return code(", ".join(map(str, default)) if isinstance(default, list | tuple) else default)
