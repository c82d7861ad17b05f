"""Writer of pages on the tables of a run directory and their columns with units."""

from longhaul import _engine
from tools.site.markdown import Pages, code, page, section, table, toctree

TABLES = {
    "flows": "one row per flow, with its counts and means in the measurement window, and over the whole run (`total_...`)",
    "links": "one row per link direction, with its counts and means in the measurement window, and over the whole run",
    "proxies": "one row per proxy",
    "series": "samples of flows, links and proxies over time, at intervals of `measure.every`; counters are cumulative",
    "events": "congestion events of flows, with `measure.events = true`",
    "acks": "state of a sender at each ACK, with `trace_acks = true`: one row per quantity",
    "delays": "quantiles, with `measure.delays = true`: one row per label for the one-way delays of its data packets, and one row per sampled link for the delays in its queue",
    "exchanges": "one row per connection, or per pair of request and response, of flows with traffic",
}

UNITS = {
    "pkts": "packets or segments",
    "bytes": "bytes",
    "s": "seconds",
    "bps": "bits per second",
    "": "none",
}


def write(pages: Pages) -> None:
    """Write a page on each table of a run, and the index of these pages."""
    columns = _engine.columns()
    names = list(dict.fromkeys(row["table"] for row in columns))
    for name in names:
        described = (
            (
                code(row["name"]),
                row["unit"] or "",
                row["description"] + (f" (where a link has `{row['only_with']}`)" if row["only_with"] else ""),
            )
            for row in columns
            if row["table"] == name
        )  # fmt: skip
        links = ", and `results.link_series` for links only" if name == "series" else ""
        lines = page(
            f"Table `{name}`",
            f"{TABLES[name][0].upper()}{TABLES[name][1:]}. In the run directory: `{name}.parquet`; in Python: `results.{name}`{links}.",
            table(["column", "unit", "meaning"], described),
        )
        pages.write(f"tables/{name}.md", lines)
    tables = (
        (f"[{code(name)}]({name}.md)", sum(row["table"] == name for row in columns), TABLES[name])
        for name in names
    )
    units = ((f"`_{end}`" if end else "none", unit) for end, unit in UNITS.items())
    index = [
        *page(
            "Tables of a run",
            "A run directory holds `run.json` (the resolved scenario, versions, counters, a checksum of each table) and tables in Parquet, which "
            "pandas, Polars, DuckDB and R read: [Results in other programs](../../howto/results-elsewhere.md). The end of a column's name is its unit. "
            "`longhaul list columns` prints the same in the terminal.",
            table(["table", "columns:", "content"], tables),
        ),
        *section(
            "Units",
            table(["end of the name", "unit"], units),
            "Tables of MesoNet's runs are in [MesoNet](../../mesonet.md).",
            toctree(names, hidden=True),
        ),
    ]
    pages.write("tables/index.md", index)
