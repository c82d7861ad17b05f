"""The command `analyze`: statistics on the table of a campaign, on any table, or on runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from longhaul.analysis.table import Level, ResponseTable, some, write_table
from longhaul.cli.printing import print_json, stdout
from longhaul.cli.shared import (
    AsJson,
    InputError,
    Overwrite,
    Width,
    out_option,
    refuse_existing,
)
from longhaul.cli.tables import is_run, read_table
from longhaul.figures.words import unit_at
from longhaul.files import endings
from longhaul.files.rows import as_csv
from longhaul.files.writing import write_text
from longhaul.findings import ANALYSES, MAX_ROWS, Findings, Options, Text, analyse, refuse_unused
from longhaul.findings.runs import RUN_ANALYSES, analyse_run, of_run
from longhaul.results import Results, open_runs, with_distinct_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Analyses of fractions and of congestion classes, which have no meaning for logarithms.
WITHOUT_LOGARITHMS = {"shares", "congestion"}
RATE = re.compile(r"[\d.]+ ?[kMGT]?(bps|bit/s)")
HINT_OF_RATES = (
    "hint: goodput follows the rate, a factor ({}), which hides what else matters: --log compares "
    "ratios, and the response links.NAME.utilization is the part of a link that is used"
)


def analyze(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="CAMPAIGN",
            help="Campaign file or directory, a Parquet or CSV table, a study such as nist-2010 or "
            "nist-2010/quick, or the directory of one run.",
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ANALYSIS]...",
            help="Analyses, as `analyze list` shows them; by default `effects`, for runs `steady`. "
            "Further run directories before the analyses are analysed, too.",
        ),
    ] = None,
    response: Annotated[
        list[str] | None,
        typer.Option(
            "--response",
            "-r",
            help="Response to analyse, or a pattern such as 'y*_TP1'; repeatable.",
            show_default="all that vary",
        ),
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor", "-f", help="Factor to analyse, or a column of a table; repeatable."
        ),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option("--of", help="The factor whose levels compete, such as the algorithm."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="FACTOR=LEVEL", help="Exclude runs with this level; repeatable."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACTOR=LEVEL",
            help="Keep only runs with this level of a factor or another column; repeatable.",
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Minimum |r| within a group of correlated responses.")
    ] = 0.65,
    critical: Annotated[
        float | None,
        typer.Option(
            help="Critical value of Grubbs' test, such as NIST's 2.08.",
            show_default="exact, two-sided, 5 %",
        ),
    ] = None,
    min_percent: Annotated[
        float,
        typer.Option(min=0.0, help="Smallest effect, in percent, of an outlier that is reported."),
    ] = 0.0,
    low_is_best: Annotated[
        list[str] | None, typer.Option(help="A response where lower is better; repeatable.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Campaign, filtered in the same way, whose correlations are compared; or a run "
            "with the same connections, or with flows alone."
        ),
    ] = None,
    classes: Annotated[
        int | None, typer.Option(min=2, help="Number of congestion classes.", show_default="4")
    ] = None,
    order_by: Annotated[
        str | None,
        typer.Option(
            metavar="RESPONSE",
            help="Order conditions by the mean of this response over competitors, smallest first.",
            show_default="the order of the table",
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            help="Table to write (.csv, .parquet): factors and scores on principal components, "
            "which analyses take as responses PC1, PC2 and so on.",
        ),
    ] = None,
    log: Annotated[
        bool,
        typer.Option(
            "--log",
            help="Analyse logarithms (base 10) of responses: effects are then ratios, and a factor "
            "such as the rate does not hide all others.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        out_option(
            "Plot to write (.svg, .png, .pdf; if there are several, the plot with this name), or "
            "tables (.csv), or a directory for several plots."
        ),
    ] = None,
    format: Annotated[
        Literal["svg", "png", "pdf"],
        typer.Option("--format", help="Format of the plots in a directory."),
    ] = "svg",
    width: Width = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Find out which factors matter, which competitors stand out, which responses correlate."""
    if str(source) == "list":
        _list_analyses()
        return
    options = Options(
        responses=tuple(response or ()),
        of=of,
        factors=tuple(factor or ()),
        threshold=threshold,
        critical=critical,
        min_percent=min_percent,
        low_is_best=tuple(low_is_best or ()),
        classes=classes,
        order_by=order_by,
    )
    if is_run(source):
        if options != Options() or without or only or out or scores or log:
            raise InputError(f"{source}: a run has no responses, factors or plots: only --against")
        more = list(takewhile(lambda word: is_run(Path(word)), names or []))
        analyses = (names or [])[len(more) :] or ["steady"]
        _of_runs([source, *map(Path, more)], analyses, against, json=json)
        return
    if width is not None and (out is None or out.suffix == ".csv"):
        raise InputError(f"--width: expected a plot or a directory as --out, found {out or 'none'}")
    if out is not None:
        endings.is_file(out, (*endings.FIGURES, ".csv"))
    if scores is not None:
        endings.check_file(scores, endings.TABLES, "--scores")
    if scores is not None and "components" not in (names or []):
        raise InputError(f"--scores {scores}: expected the analysis `components`")
    sources = [source] if against is None else [source, against]
    # If the command names the factors of a table, the factor of competitors is one of them.
    factors = [*(factor or []), *([of] if factor and of and of not in factor else [])]
    table, *others = (
        _chosen(read_table(each, factors), without or [], only or []) for each in sources
    )
    for name in filter(None, [*(factor or ()), of]):
        table.require(name)
    for name in filter(None, [*(low_is_best or ()), order_by]):
        table.values(name)
    analyses = names or ["effects"]
    options = replace(
        options, responses=table.matching(response or ()), against=next(iter(others), None)
    )
    refuse_unused(analyses, options)
    whole = table
    if log:
        table = _logarithms(table, options.responses, names or [])
        if options.against is not None:
            options = replace(options, against=options.against.logarithms(table.responses))
    elif rates := _rates_among(table, options.responses):
        typer.echo(HINT_OF_RATES.format(some(rates)), err=True)
    findings = {name: analyse(name, table, options) for name in analyses}
    if not options.responses:
        _say_what_is_left_out(whole)
    if not {"effects", "ranks", "cube"}.isdisjoint(findings):
        _say_what_goes_together(table)
    # Output that cannot be written is refused before results are printed.
    targets = {} if out is None else _targets(findings, out, format, width)
    for path in targets:
        refuse_existing(path, overwrite=overwrite)
    if scores is not None:
        refuse_existing(scores, overwrite=overwrite)
        of_components = findings["components"].scores
        assert of_components is not None
        write_table(scores, of_components, table.factors)
    _show({name: of_one.tables for name, of_one in findings.items()}, json=json)
    for path, write in targets.items():
        write(path)
        if not json:
            typer.echo(path)


def _logarithms(
    table: ResponseTable, responses: Sequence[str], names: Sequence[str]
) -> ResponseTable:
    """Return a table of decimal logarithms of `responses`, by default of all that are above 0."""
    if unfit := WITHOUT_LOGARITHMS.intersection(names):
        raise InputError(f"--log: expected an analysis of means, found {', '.join(sorted(unfit))}")
    chosen = responses or table.positive()
    if not responses:
        _say("left out, since not above 0 in all runs", [
            name for name in table.telling() if name not in chosen
        ])  # fmt: skip
    return table.logarithms(chosen)


def _rates_among(table: ResponseTable, responses: Sequence[str]) -> list[str]:
    """Return the varying factors that are rates; none if no chosen response is in bit/s."""
    chosen = [table.place(name) for name in responses or table.telling()]
    if not any(unit_at(place) == "bit/s" for place in chosen):
        return []
    return [name for name in table.varying if _is_rate(name, table.factors[name])]


def _is_rate(name: str, levels: Sequence[Level]) -> bool:
    """Return true if the levels of a factor are rates.

    Rates are texts such as `10 Mbps`, or numbers of a factor called `rate`, `bandwidth` or
    `capacity`.
    """
    texts = [level for level in levels if isinstance(level, str)]
    if not texts:
        return name.rpartition(".")[2] in ("rate", "bandwidth", "capacity")
    return len(texts) == len(levels) and all(RATE.fullmatch(text) for text in texts)


def _list_analyses() -> None:
    """Print the names of the analyses of tables and of the analyses of single runs."""
    for analysis in ANALYSES.values():
        typer.echo(f"{analysis.name:14} {analysis.help}")
    typer.echo("of the directory of one run:")
    for run_analysis in RUN_ANALYSES.values():
        typer.echo(f"{run_analysis.name:14} {run_analysis.help}")


def _say_what_is_left_out(table: ResponseTable) -> None:
    """Print the responses that some runs lack; analyses use them only if the user names them."""
    runs = len(table.frame)
    names = [f"{name} ({count} of {runs} runs)" for name, count in table.incomplete().items()]
    _say("left out, since runs have no value", names)


def _say_what_goes_together(table: ResponseTable) -> None:
    """Print a warning about pairs of factors whose levels do not occur in proportion."""
    what = "warning: levels go together, and means of one factor have part of the other's effect"
    _say(what, [" and ".join(pair) for pair in table.entangled()])


def _say(what: str, texts: list[str]) -> None:
    """Print `what` and the first of `texts` on standard error, if there are any texts."""
    if texts:
        typer.echo(f"{what}: {some(texts)}", err=True)


def _show(tables: Mapping[str, Sequence[Text]], *, json: bool) -> None:
    """Print the tables of each analysis, and on standard error what the analyses left out."""
    every = (text for texts in tables.values() for text in texts)
    _say("left out", list(dict.fromkeys(line for text in every for line in text.left_out)))
    if json:
        print_json({name: [_as_json(text) for text in texts] for name, texts in tables.items()})
        return
    for texts in tables.values():
        for text in texts:
            _print(text)


def _of_runs(runs: Sequence[Path], names: list[str], against: Path | None, *, json: bool) -> None:
    """Print the analyses `names` of runs; `against` is a run to compare with."""
    other = None if against is None else Results(against)
    opened = with_distinct_names(open_runs(runs))
    _show({name: _analysed(name, opened, other) for name in names}, json=json)


def _analysed(name: str, runs: Sequence[Results], against: Results | None) -> list[Text]:
    """Return tables of the analysis `name`, for all runs together or for each run."""
    of_all = of_run(name).of_all
    if of_all is not None:
        return of_all(runs)
    found = [(run, analyse_run(name, run, against)) for run in runs]
    if len(found) == 1:
        return found[0][1]
    return [text for run, texts in found for text in _titled(run, texts)]


def _titled(run: Results, texts: Sequence[Text]) -> list[Text]:
    """Return tables whose titles begin with the name of their run."""
    begin = f"{run.name}: "
    return [replace(text, title=begin + text.title.removeprefix(begin)) for text in texts]


def _chosen(table: ResponseTable, without: Sequence[str], only: Sequence[str]) -> ResponseTable:
    """Return a table of the runs that the options `--without` and `--only` select.

    Other columns, such as a study's experiments, are filtered before factors, because factors may
    have other levels in other experiments.
    """
    filters: dict[tuple[str, bool], list[str]] = {}
    for words, keep in ((only, True), (without, False)):
        for word in words:
            name, equals, level = word.partition("=")
            if not equals:
                raise InputError(f"{word}: expected FACTOR=LEVEL")
            filters.setdefault((name, keep), []).append(level)
    for name, keep in sorted(filters, key=lambda key: key[0] in table.factors):
        table = table.where(name, filters[name, keep], keep=keep)
    table.require_levels()
    return table


def _print(text: Text) -> None:

    heads = map(escape, text.heads)
    title = escape(text.heading or text.title)
    drawn = Table(*heads, title=title, title_justify="left", box=None, pad_edge=False)
    for k, column in enumerate(drawn.columns):
        if k and not any(isinstance(row[k], str) for row in text.rows):
            column.justify = "right"
    for row in text.printed()[:MAX_ROWS]:
        drawn.add_row(*map(escape, row))
    console = stdout()
    console.print(drawn)
    if len(text.rows) > MAX_ROWS:
        console.print(f"and {len(text.rows) - MAX_ROWS} more rows: --json has all")
    if text.note:
        console.print(escape(text.note))
    console.print()


def _as_json(text: Text) -> dict[str, object]:
    return {
        "title": text.title,
        "rows": [dict(zip(text.heads, row, strict=True)) for row in text.rows],
    }


def _targets(
    findings: dict[str, Findings], out: Path, format: str, width: float | None
) -> dict[Path, Callable[[Path], None]]:
    """Return the paths of the files to write, each with the function that writes the file.

    The files are a CSV file with all tables, which must have equal columns; or one plot; or all
    plots, in a directory. The first column of the CSV file has the titles of the tables. Raise an
    error if `out` does not fit the findings.
    """
    if out.suffix == ".csv":
        tables = [text for each in findings.values() for text in each.tables]
        if len({text.heads for text in tables}) != 1:
            raise InputError(
                f"--out {out}: expected tables with the same columns; "
                f"those of {', '.join(findings)} differ: --json has all of them"
            )
        rows = ((text.title, *row) for text in tables for row in text.rows)
        content = as_csv([("table", *tables[0].heads), *rows])
        return {out: lambda path: write_text(path, content)}
    drawings = {name: draw for each in findings.values() for name, draw in each.plots.items()}
    if not drawings:
        raise InputError(f"--out {out}: no plot for {', '.join(findings)}")
    if not endings.is_file(out, endings.FIGURES):
        return {
            out / f"{name}.{format}": partial(_draw, draw, width) for name, draw in drawings.items()
        }
    if len(drawings) > 1 and out.stem not in drawings:
        raise InputError(
            f"--out {out}: expected a directory for {len(drawings)} plots, "
            f"or the name of one of them, such as {next(iter(drawings))}{out.suffix}, or one "
            f"response with --response; available: {', '.join(drawings)}"
        )
    return {out: partial(_draw, drawings.get(out.stem, next(iter(drawings.values()))), width)}


def _draw(draw: Callable[[], Figure], width: float | None, path: Path) -> None:
    from longhaul import plots

    plots.draw(draw, path, width)
