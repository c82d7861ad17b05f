"""The command `design`: experimental designs and their aliases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from longhaul import designs
from longhaul.cli.printing import print_json
from longhaul.cli.shared import AsJson, InputError, Overwrite, out_option, refuse_existing
from longhaul.designs import PUBLISHED, Design, Factor, Level, roman
from longhaul.files.endings import check_file
from longhaul.files.writing import write_text

# Maximum lengths of lists, and of the list of word lengths, on the terminal; --json has all
# entries. The table of runs is printed if it has at most twice MAX_LINES rows.
MAX_LINES = 40
MAX_LENGTHS = 6


def design(
    factors: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FACTOR...",
            help="A number of factors, or each factor as NAME or NAME=LEVEL,LEVEL...",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(help="Runs of a two-level fraction of minimum aberration."),
    ] = None,
    resolution: Annotated[
        int | None, typer.Option(help="The smallest two-level fraction of this resolution.")
    ] = None,
    generator: Annotated[
        list[str] | None,
        typer.Option("--generator", "-g", metavar="'X=A*B'", help="A generator; repeatable."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="All combinations of all levels.")] = False,
    latin_hypercube: Annotated[
        int | None,
        typer.Option(metavar="RUNS", help="Points of a Latin hypercube."),
    ] = None,
    one_at_a_time: Annotated[
        bool,
        typer.Option("--one-at-a-time", help="Vary one factor at a time from its first level."),
    ] = False,
    published: Annotated[
        str | None, typer.Option(metavar="NAME", help="A published design; `list` shows them.")
    ] = None,
    fold_over: Annotated[
        bool, typer.Option("--fold-over", help="Fold over: add the mirror image as a second block.")
    ] = False,
    block: Annotated[
        list[str] | None,
        typer.Option(metavar="A*B", help="A product whose sign defines blocks; repeatable."),
    ] = None,
    replications: Annotated[int, typer.Option(min=1, help="Replications of each run.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of a Latin hypercube.")] = 1,
    natural: Annotated[
        bool, typer.Option("--natural", help="Write levels as given, not as -1 and +1.")
    ] = False,
    out: Annotated[Path | None, out_option("CSV file to write.")] = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Make an experimental design, and print its resolution, word lengths and aliases."""
    if out is not None:
        check_file(out, (".csv",))
    if published == "list":
        _list_published()
        return
    given = _factors(factors or [])
    fraction = runs is not None or resolution is not None
    kinds = (fraction, generator, full, latin_hypercube is not None, one_at_a_time, published)
    if sum(map(bool, kinds)) > 1:
        raise InputError(
            "choose one of --runs or --resolution, --generator, --full, --latin-hypercube, "
            "--one-at-a-time and --published"
        )
    if published is not None:
        if given:
            raise InputError(f"--published {published}: has its own factors")
        made = designs.published(published)
    elif not given:
        raise InputError("expected at least one factor: longhaul design FACTOR...")
    elif full:
        made = designs.full(given)
    elif latin_hypercube is not None:
        made = designs.latin_hypercube(given, latin_hypercube, seed)
    elif one_at_a_time:
        made = designs.one_at_a_time(given)
    else:
        made = designs.two_level(
            given, generators=generator or (), runs=runs, resolution=resolution
        )
    if fold_over:
        made = made.folded()
    if block:
        made = made.in_blocks(block)
    made = made.replicated(replications)
    if out is not None:
        refuse_existing(out, overwrite=overwrite)
        write_text(out, made.csv(natural=natural))
    if json:
        print_json(
            made.describe() | {"coded": made.coded.tolist(), "natural": list(made.natural())}
        )
        return
    _print(made, natural=natural, table=out is None)
    if out is not None:
        typer.echo(out)


def _factors(words: list[str]) -> list[Factor]:

    if len(words) == 1 and words[0].isdecimal():
        return [Factor(f"x{i + 1}") for i in range(int(words[0]))]
    factors = []
    for word in words:
        name, given, levels = word.partition("=")
        factors.append(
            Factor(name, tuple(map(_level, levels.split(",")))) if given else Factor(name)
        )
    return factors


def _level(text: str) -> Level:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


def _print(made: Design, *, natural: bool, table: bool) -> None:

    facts = made.describe()
    lines = [f"{made.kind}: {made.runs} runs, {len(made.factors)} factors"]
    lines += [f"generators: {', '.join(facts['generators'])}"] if facts["generators"] else []
    if made.is_two_level:
        words = [f"{n:g} of length {j}" for j, n in facts["word_lengths"].items()]
        lengths = ", ".join(words[:MAX_LENGTHS]) + (", ..." if len(words) > MAX_LENGTHS else "")
        lines += [
            f"balanced: {_yes(facts['balanced'])}; orthogonal: {_yes(facts['orthogonal'])}",
            f"resolution: {roman(facts['resolution'])}; words: {lengths or 'none'}",
            f"main effects and two-factor interactions that are clear: {_some(facts['clear'])}",
        ]
        lines += [f"aliased: {line}" for line in facts["aliases"][:MAX_LINES]]
        if (more := len(facts["aliases"]) - MAX_LINES) > 0:
            lines.append(f"and {more} more groups: --json has all")
        if facts["partial_aliases"]:
            lines.append(f"partly aliased pairs of effects: {facts['partial_aliases']}")
        if made.blocks is not None:
            lines.append(f"lost to blocks: {_some(facts['confounded_with_blocks'])}")
    typer.echo("\n".join(lines))
    if table and made.runs <= MAX_LINES * 2:
        typer.echo("\n" + made.csv(natural=natural), nl=False)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _some(words: list[str]) -> str:
    if not words:
        return "none"
    return ", ".join(words[:MAX_LINES]) + (
        f" and {len(words) - MAX_LINES} more" if len(words) > MAX_LINES else ""
    )


def _list_published() -> None:

    rows: list[tuple[str, Any]] = sorted(PUBLISHED.items())
    for name, design in rows:
        typer.echo(f"{name}  {', '.join(design.generators)}\n    {design.source}")
