"""Metrics of a label's flows, and of all flows together: expressions over the flows' rows."""

from functools import partial

import polars as pl

from longhaul.analysis.fairness import jain_of_column
from longhaul.figures.forms import number, percent
from longhaul.figures.registry import ALL, LABEL, MERIT, SUMMARY, PreparedRun, declare

# Sources whose flows compete for a share of a link with one connection each; web traffic has many
# connections, and datagrams are sent at a given rate.
COMPARABLE = ("greedy", "transfer", "messages")
# Counters for which tables show the value before the measurement window if it is 0 in the window.
COUNTS = {
    "cuts_loss": ("cwnd reductions (loss)", "window reductions for losses"),
    "cuts_ecn": ("cwnd reductions (ECN)", "window reductions for marks"),
    "timeouts": ("timeouts", "retransmission timeouts"),
}
# Factors that limit a sender; the one that limited a flow longest is the flow's.
LIMITS = {
    "network": "limited_network_s",
    "receive window": "limited_receive_window_s",
    "application": "limited_application_s",
}
# Quantiles of delays and of response times, in words.
QUANTILES = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile"}
MEANT = {
    "p50": "the median", "p95": "not exceeded by 95 %", "p99": "not exceeded by 99 %",
}  # fmt: skip
# Quantiles by which competitors may harm a flow.
_HARMED = {"p50": "less", "p99": "less"}


def flows(prepared: PreparedRun) -> pl.DataFrame:
    """Return the flows of a run, with the factor that limits each flow.

    Parallel streams of a flow are added up.
    """
    return with_limits(prepared.run.bundles)


def with_limits(flows: pl.DataFrame) -> pl.DataFrame:
    """Add columns to `flows`: limiting factor, earlier counts, and total goodput of all flows.

    The limiting factor is null if nothing limited the flow. `limited_share` is its part of the time
    in which any factor limited the flow.
    Earlier counts are those of the counters in `COUNTS` before the measurement window.
    """
    held = [pl.col(column) for column in LIMITS.values()]
    longest = pl.max_horizontal(held)
    limit = pl.coalesce(
        pl.when((column == longest) & (longest > 0)).then(pl.lit(name))
        for name, column in zip(LIMITS, held, strict=True)
    )
    return flows.with_columns(
        *((pl.col(f"total_{name}") - pl.col(name)).alias(f"before_{name}") for name in COUNTS),
        limited_by=limit,
        limited_share=(longest / pl.sum_horizontal(held)).fill_nan(None),
        whole_bps=pl.lit(float(flows["goodput_bps"].sum())),
    )


of_flows = partial(declare, of=LABEL, source=flows)
_GOODPUT = pl.col("goodput_bps").fill_null(0.0)
_SAMPLES, _SENT = pl.col("rtt_samples"), pl.col("sent_pkts").sum()
_LIMITS = pl.col("limited_by").drop_nulls()
_MOST_LIMITS = _LIMITS.mode().sort().first()

of_flows("flows", "flows", pl.len(), "number of flows", form=number(0))
of_flows("goodput_bps", "goodput", _GOODPUT.sum(), better="more", form=1)
of_flows(
    "share", "share of goodput",
    (_GOODPUT.sum() / pl.col("whole_bps").first()).fill_nan(None),
    "goodput of the label, as a part of the goodput of all flows", form=percent(1),
)  # fmt: skip
of_flows(
    "jain", "Jain's index",
    jain_of_column(_GOODPUT.filter(pl.col("source").is_in(COMPARABLE))).fill_nan(None),
    "Jain's fairness index of the goodputs: 1 where all are the same", form=number(3), most=1.0,
)  # fmt: skip
of_flows(
    "completed", "transfers completed",
    # Only finite transfers can complete.
    pl.when(pl.col("transfer_bytes").count() > 0).then(pl.col("completion_s").count()),
    "flows whose transfer was complete", form=str,
)  # fmt: skip


def responses(prepared: PreparedRun) -> pl.DataFrame:
    """Return the times of exchanges and transfers that began in the measurement window."""
    times: pl.DataFrame = prepared.run.response_times
    return times


def _unless_zero(value: float) -> str:
    return number(0)(value) if value else ""


of_responses = partial(declare, of=LABEL, source=responses)
_TIME = pl.col("response_s")
of_responses(
    "responses", "responses and transfers", _TIME.count(),
    "responses that have arrived completely", form=_unless_zero,
)  # fmt: skip
of_responses(
    "responses_cut_short", "cut short by the end", _TIME.null_count(),
    "responses that the end of the run cut short", form=_unless_zero,
)  # fmt: skip
# Responses cut short by the end of the run are missing, which makes the quantiles too small.
for _part, _title in QUANTILES.items():
    of_responses(
        f"response_{_part}_s", f"response time, {_title}",
        _TIME.quantile(int(_part[1:]) / 100, "linear"),
        f"time from a request to the end of its response, {MEANT[_part]}",
        better=_HARMED.get(_part, ""), form=1, is_time_until=True,
    )  # fmt: skip

of_flows(
    "cwnd_mean_pkts", "mean cwnd", pl.col("cwnd_mean_pkts").mean(), row="mean cwnd (segments)",
    form=number(1),
)  # fmt: skip
of_flows(
    "rtt_mean_s", "mean RTT",
    ((pl.col("rtt_mean_s") * _SAMPLES).sum() / _SAMPLES.sum()).fill_nan(None), form=2,
)  # fmt: skip
of_flows(
    "retransmitted", "retransmitted",
    (pl.col("retransmitted_pkts").sum() / _SENT).fill_nan(None),
    "packets retransmitted, as part of those sent", better="less", form=percent(3), most=1.0,
)  # fmt: skip
# CER of a protocol, and GCER of all flows: De Souza, LBNL-52549, section 5.3.1.
of_flows(
    "congestion_event_rate", "congestion event rate",
    ((pl.col("dropped_pkts").sum() + pl.col("marked_pkts").sum()) / _SENT).fill_nan(None),
    "packets dropped or marked, as part of those sent", better="less", listed=(),
)  # fmt: skip
of_flows(
    "marked_pkts", "packets marked", pl.col("marked_pkts").sum(),
    "data packets that links marked instead of dropping them", form=_unless_zero,
)  # fmt: skip
for _name, (_title, _) in COUNTS.items():
    of_flows(_name, _title, pl.col(_name).sum(), form=number(0))
for _name, (_title, _about) in COUNTS.items():
    before = f"before_{_name}"
    _when = "before the measurement window"
    of_flows(before, f"{_title} before", pl.col(before).sum(), f"{_about} {_when}")
of_flows(
    "limited_by", "limited by", _MOST_LIMITS, "limit that applies to most of the flows", form=str
)
of_flows(
    "limited_by_share", "part of the flows with the same limit", (_LIMITS == _MOST_LIMITS).mean(),
    "part of the flows to which this limit applies",
)  # fmt: skip


def delays(prepared: PreparedRun) -> pl.DataFrame:
    """Return the delays of data packets, for each label and for all flows."""
    return with_names(prepared.run.delays)


def with_names(delays: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `delays` for groups of flows with one label, and for all flows together.

    The added column `label` has the group's label, or null for all flows.
    """
    of_label = pl.col("kind") == LABEL
    return delays.filter((pl.col("kind") == ALL) | of_label).with_columns(
        label=pl.when(of_label).then("name")
    )


of_delays = partial(declare, of=LABEL, source=delays, needs=("delays",))
for _part, _title in QUANTILES.items():
    of_delays(
        f"delay_{_part}_s", f"delay, {_title}", pl.col(f"{_part}_s").first(),
        "quantile of the one-way delay of data packets", better=_HARMED.get(_part, ""),
        form=1, listed=(SUMMARY, MERIT),
    )  # fmt: skip
of_delays(
    "pdv_p95_s", "delay variation", (pl.col("p95_s") - pl.col("min_s")).first(),
    "95 % quantile of the delay less the smallest (RFC 5481, packet delay variation)",
    listed=(MERIT,),
)  # fmt: skip


def counted(prepared: PreparedRun) -> pl.DataFrame:
    """Return the flows, each with the bottleneck's rate and the measured time in round trips.

    A round trip is twice the bottleneck's propagation delay. Without delay, the number is null.
    """
    run = prepared.run
    link = run.links.row(by_predicate=pl.col("name") == run.bottleneck, named=True)
    round_trips = run.measured_s / (2 * link["delay_s"]) if link["delay_s"] else None
    flows: pl.DataFrame = run.flows.with_columns(
        round_trips=pl.lit(round_trips, pl.Float64), rate_bps=pl.lit(float(link["rate_bps"]))
    )
    return flows


of_counted = partial(declare, of=LABEL, source=counted, listed=())
of_counted("sent_pkts", "packets sent", _SENT)
of_counted(
    "packets_per_round_trip", "packets in a round trip", _SENT / pl.col("round_trips").first(),
    "packets sent in a round trip of the busiest link without its queue",
)  # fmt: skip
of_counted(
    "lost", "packets lost", (pl.col("dropped_pkts").sum() / _SENT).fill_nan(None),
    "packets dropped by links, as part of those sent", most=1.0,
)  # fmt: skip
of_counted(
    "part", "part of the link", pl.col("goodput_bps").sum() / pl.col("rate_bps").first(),
    "goodput over the rate of the busiest link", most=1.0,
)  # fmt: skip
