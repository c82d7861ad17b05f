"""Definition of the kind of simulation `connections`."""

from typing import Any

from longhaul import _engine
from longhaul.connections import names, reduce, series, tables, work
from longhaul.results.kinds import CONNECTIONS, Kind

_REMEDIES = {
    "series": 'the scenario records samples with `measure = { every = "100 ms" }`',
    "acks": "the scenario traces flows with `trace_acks = true`",
    "exchanges": "only flows with `traffic` have exchanges",
    "proxies": "the scenario has no `proxies`",
    "events": "the scenario records events with `measure = { events = true }`",
    "delays": "the scenario measures them with `measure = { delays = true }`",
}


def _required(table: str) -> list[str]:
    """Return the columns that the table named `table` has in every run with this table."""
    of_table = [row for row in _engine.columns() if row["table"] == table]
    return [row["name"] for row in of_table if not row["only_with"]]


def _card(run: Any) -> str:  # noqa: ANN401
    from longhaul.reports import card  # loads Matplotlib, which only notebooks need

    return card(run)


KIND = Kind(
    name=CONNECTIONS,
    title="TCP",
    tables=lambda run: run,
    required=_required,
    summary=lambda run: run.own_tables.summary(),
    without_numbers=names.without_numbers,
    card=_card,
    compare=tables.table,
    changes=tables.changes,
    plots=tuple(
        f"longhaul.plots.{subject}"
        for subject in (
            "flows", "shares", "links", "proxies", "fairness", "delays", "response_times",
            "traffic", "distributions", "scatter", "phase", "state", "time_sequence",
        )
    ),
    report_plots=(
        "shares", "cwnd", "queue", "proxy-window", "proxy-queue", "throughput", "fairness", "rtt",
        "delays", "response-times", "throughput-delay",
    ),
    remedies=_REMEDIES,
    provenance=lambda _: {},
    kept=lambda _: {},
    reduced=reduce.reduced,
    time_series=series.time_series,
    expected_packets=work.expected_packets,
    is_resumable=False,
    same_since=_engine.results_version(),
)  # fmt: skip
