"""Figures of the flows of a label, and of all flows together: expressions over their rows."""

from functools import partial

import polars as pl

from longhaul.analysis.fairness import jain_of_column
from longhaul.figures.forms import number, percent
from longhaul.figures.registry import ALL, LABEL, MERIT, SUMMARY, Prepared, figure

# Sources of flows that are one connection each, which shares of a link can be compared among: a
# source of web traffic is many connections, and datagrams do not ask for a share.
COMPARABLE = ("greedy", "transfer", "messages")
# Counters whose values before the measurement window are shown where they are 0 in it.
COUNTS = {
    "cuts_loss": ("cwnd reductions (loss)", "window reductions for losses"),
    "cuts_ecn": ("cwnd reductions (ECN)", "window reductions for marks"),
    "timeouts": ("timeouts", "retransmission timeouts"),
}
# What can hold a sender back; a flow's limiting factor is the one that did longest.
LIMITS = {
    "network": "limited_network_s",
    "receive window": "limited_receive_window_s",
    "application": "limited_application_s",
}
# Quantiles of delays and of response times, in words.
QUANTILES = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile"}
MEANT = {
    "p50": "the median", "p95": "which 95 % do not exceed", "p99": "which 99 % do not exceed",
}  # fmt: skip
# Flows are harmed in the median and in the tail.
_HARMED = {"p50": "less", "p99": "less"}


def flows(prepared: Prepared) -> pl.DataFrame:
    """Return the flows of a run, parallel streams added up, with what limits each."""
    return with_limits(prepared.run.bundles)


def with_limits(flows: pl.DataFrame) -> pl.DataFrame:
    """Return flows with their limiting factors, counts before the window, and all goodput."""
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


of_flows = partial(figure, of=LABEL, source=flows)
_GOODPUT = pl.col("goodput_bps").fill_null(0.0)


@of_flows("flows", title="flows", about="number of flows", form=number(0))
def _flows() -> pl.Expr:
    return pl.len()


@of_flows("goodput_bps", title="goodput", better="more", form=1)
def _goodput() -> pl.Expr:
    return _GOODPUT.sum()


@of_flows(
    "share", title="share of goodput", about="part of the goodput of all flows", form=percent(1)
)
def _share() -> pl.Expr:
    return (_GOODPUT.sum() / pl.col("whole_bps").first()).fill_nan(None)


@of_flows(
    "jain",
    title="Jain's index",
    about="Jain's fairness index of the goodputs: 1 where all are the same",
    form=number(3),
    most=1.0,
)
def _jain() -> pl.Expr:
    return jain_of_column(_GOODPUT.filter(pl.col("source").is_in(COMPARABLE))).fill_nan(None)


@of_flows(
    "completed",
    title="transfers completed",
    about="flows that had sent all that they had to send",
    form=str,
)
def _completed() -> pl.Expr:
    # Only finite transfers can be completed.
    is_finite = pl.col("transfer_bytes").count() > 0
    return pl.when(is_finite).then(pl.col("completion_s").count())


def responses(prepared: Prepared) -> pl.DataFrame:
    """Return the response times of a run."""
    return prepared.run.response_times


of_responses = partial(figure, of=LABEL, source=responses)
_TIME = pl.col("response_s")


def _unless_zero(value: float) -> str:
    return number(0)(value) if value else ""


@of_responses(
    "responses",
    title="responses and transfers",
    about="responses that have arrived completely",
    form=_unless_zero,
)
def _responses() -> pl.Expr:
    return _TIME.count()


@of_responses(
    "responses_cut_short",
    title="cut short by the end",
    about="responses that the end of the run cut short",
    form=_unless_zero,
)
def _cut_short() -> pl.Expr:
    return _TIME.null_count()


# What the end of the run cut short is not among the quantiles, which are too small where much was.
for _part, _title in QUANTILES.items():
    of_responses(
        f"response_{_part}_s",
        title=f"response time, {_title}",
        about=f"time from a request to the end of its response, {MEANT[_part]}",
        better=_HARMED.get(_part, ""),
        form=1,
        is_time_until=True,
    )(partial(_TIME.quantile, int(_part[1:]) / 100, "linear"))


@of_flows("cwnd_mean_pkts", title="mean cwnd", row="mean cwnd (segments)", form=number(1))
def _window() -> pl.Expr:
    return pl.col("cwnd_mean_pkts").mean()


@of_flows("rtt_mean_s", title="mean RTT", form=2)
def _round_trip() -> pl.Expr:
    samples = pl.col("rtt_samples")
    return ((pl.col("rtt_mean_s") * samples).sum() / samples.sum()).fill_nan(None)


@of_flows(
    "retransmitted",
    title="retransmitted",
    about="packets retransmitted, as part of those sent",
    better="less",
    form=percent(3),
    most=1.0,
)
def _retransmitted() -> pl.Expr:
    return (pl.col("retransmitted_pkts").sum() / pl.col("sent_pkts").sum()).fill_nan(None)


for _name, (_title, _) in COUNTS.items():
    of_flows(_name, title=_title, form=number(0))(pl.col(_name).sum)
for _name, (_title, _about) in COUNTS.items():
    of_flows(
        f"before_{_name}",
        title=f"{_title} before",
        about=f"{_about} before the measurement window",
    )(pl.col(f"before_{_name}").sum)


@of_flows("limited_by", title="limited by", about="what limits most of the flows", form=str)
def _limited_by() -> pl.Expr:
    return pl.col("limited_by").drop_nulls().mode().sort().first()


@of_flows(
    "limited_by_share",
    title="part of the flows with the same limit",
    about="part of the flows that are limited by what limits most of them",
)
def _limited_by_share() -> pl.Expr:
    limits = pl.col("limited_by").drop_nulls()
    return limits.eq(_limited_by()).mean()


def delays(prepared: Prepared) -> pl.DataFrame:
    """Return the delays of the data packets of each label, and of all."""
    return with_names(prepared.run.delays)


def with_names(delays: pl.DataFrame) -> pl.DataFrame:
    """Return the delays of labels, with their names as `label`, and of all, which is called so."""
    is_all = pl.col("kind") == ALL
    return delays.filter(is_all | (pl.col("kind") == LABEL)).with_columns(
        label=pl.when(is_all).then(pl.lit(ALL)).otherwise("name")
    )


of_delays = partial(figure, of=LABEL, source=delays, needs=("delays",))
for _part, _title in QUANTILES.items():
    of_delays(
        f"delay_{_part}_s",
        title=f"delay, {_title}",
        about="that its data packets take to arrive (quantile)",
        better=_HARMED.get(_part, ""),
        listed=(SUMMARY, MERIT),
    )(pl.col(f"{_part}_s").first)


@of_delays(
    "pdv_p95_s",
    title="delay variation",
    about="of that above the least (RFC 5481, packet delay variation)",
    listed=(MERIT,),
)
def _variation() -> pl.Expr:
    return (pl.col("p95_s") - pl.col("min_s")).first()


def counted(prepared: Prepared) -> pl.DataFrame:
    """Return the flows of a run, with the bottleneck's rate and the round trips of its path."""
    run = prepared.run
    link = run.links.row(by_predicate=pl.col("name") == run.bottleneck, named=True)
    measured_s = run.meta["simulated_s"] - run.meta["measured_from_s"]
    round_trips = measured_s / (2 * link["delay_s"]) if link["delay_s"] else None
    return run.flows.with_columns(
        round_trips=pl.lit(round_trips, pl.Float64), rate_bps=pl.lit(float(link["rate_bps"]))
    )


of_counted = partial(figure, of=LABEL, source=counted, listed=())
_SENT = pl.col("sent_pkts").sum()


@of_counted("sent_pkts", title="packets sent")
def _sent() -> pl.Expr:
    return _SENT


@of_counted(
    "packets_per_round_trip",
    title="packets in a round trip",
    about="packets sent in a round trip of the busiest link without its queue",
)
def _per_round_trip() -> pl.Expr:
    return _SENT / pl.col("round_trips").first()


@of_counted(
    "lost",
    title="packets lost",
    about="packets dropped by links, as part of those sent",
    most=1.0,
)
def _lost() -> pl.Expr:
    return (pl.col("dropped_pkts").sum() / _SENT).fill_nan(None)


@of_counted(
    "part",
    title="part of the link",
    about="goodput over the rate of the busiest link",
    most=1.0,
)
def _part_of_link() -> pl.Expr:
    return pl.col("goodput_bps").sum() / pl.col("rate_bps").first()
