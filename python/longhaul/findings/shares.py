"""Analysis of metrics of labels side by side, such as goodput, by levels of factors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from longhaul.analysis.cells import cell_means
from longhaul.analysis.comparisons import MeanInterval, over_replications
from longhaul.analysis.table import Level, ResponseTable, TableError
from longhaul.figures.registry import LABEL, find, unit_of
from longhaul.findings.labels import in_unit_of_rows
from longhaul.findings.registry import Findings, Options, chosen, named, with_ends

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Maximum combinations of levels in a plot; option `-f` selects fewer factors.
MAX_GROUPS = 40


@named("shares", "who gets what: figures of labels side by side, by levels of -f factors")
def _shares(table: ResponseTable, options: Options) -> Findings:
    factors = list(options.factors or table.varying)
    labelled = _labelled(table, chosen(table, options))
    if not labelled:
        raise TableError(
            "shares: expected responses of labels, found none; a campaign has them with "
            'responses = ["labels.NAME.goodput_bps", ...], where NAME is a label of its flows'
        )
    findings = Findings()
    for figure, response_of in labelled.items():
        cells = {
            (cell.levels, label): cell.mean
            for label, response in response_of.items()
            for cell in cell_means(table, response, factors)
        }
        known = find(LABEL, figure)
        words, unit = (known.title, known.unit) if known else (figure, unit_of(figure))
        what, scale = in_unit_of_rows(words, unit, [mean.mean for mean in cells.values()])
        rows = [
            (*levels, label, *with_ends(mean, scale), mean.count)
            for levels in dict.fromkeys(levels for levels, _ in cells)
            for label in response_of
            for mean in [cells[levels, label]]
        ]
        note = over_replications(cells.values())
        findings.add(what, (*factors, "label", "mean", "95 % from", "to", "replications"), rows,
                     note=note)  # fmt: skip

        def draw(
            cells: dict[tuple[tuple[Level, ...], str], MeanInterval] = cells,
            what: str = what,
            scale: float = scale,
        ) -> "Figure":
            from longhaul.plots import shares, styles
            from longhaul.plots.files import styled

            means = {
                ("\n".join(map(str, levels)) or "all", label): mean
                for (levels, label), mean in cells.items()
            }
            labels = {label: label for _, label in cells}
            with styled():
                return shares.side_by_side(means, styles.of_labels(labels), what, scale)

        if len(rows) // len(response_of) <= MAX_GROUPS:
            findings.plots[f"shares-{figure}"] = draw
    return findings


def of_several_labels(table: ResponseTable) -> bool:
    """Return true if shares can be drawn: a quantity was measured for several labels of flows.

    There may be at most `MAX_GROUPS` combinations of the factors' levels.
    """
    found = _labelled(table, table.telling())
    combinations = table.frame.select(table.varying).n_unique() if table.varying else 1
    return combinations <= MAX_GROUPS and any(len(of) > 1 for of in found.values())


def _labelled(table: ResponseTable, responses: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the responses named `labels.LABEL.QUANTITY`, by quantity, then by label.

    If a campaign has renamed a response, its original name decides.
    """
    found: dict[str, dict[str, str]] = {}
    for response in responses:
        kind, _, rest = table.place(response).partition(".")
        label, _, figure = rest.rpartition(".")
        if kind == "labels" and label:
            found.setdefault(figure, {})[label] = response
    return found
