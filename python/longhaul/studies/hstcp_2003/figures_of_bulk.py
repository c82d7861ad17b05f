"""Figures 6.19 to 6.39 and 7.2: competition, constant loss, bulk transfer, slow start."""

from longhaul.studies.drawing import Figure, Frame, Line

from .lines import (
    BS,
    BURSTS,
    CER,
    FLOWS,
    HSTCP,
    LOSS,
    LU,
    ONE,
    RF,
    TIME,
    WINDOW,
    both,
    bulk,
    bulk_stolen,
    figure,
    look_of_streams,
    mixed,
    queues,
    stolen_lines,
    variants,
    windows,
)

COUNTS_LOSS, COUNTS_BURSTS = (1, 4, 7, 10, 20, 30), (1, 4, 7, 10, 20)

FIGURES: list[Figure] = [
    figure(
        "6.19",
        "One HSTCP against n REGTCP: utilisation",
        "EXP-6.5",
        "One HSTCP flow is worth 6 REGTCP flows under RED, 13 under drop-tail; the link stays "
        "full.",
        Frame("number of REGTCP flows", LU),
        axis="n",
        lines=mixed("EXP-6.5"),
    ),
    figure(
        "6.20",
        "One HSTCP against n REGTCP: relative fairness",
        "EXP-6.5",
        "Falls, and is below 1 beyond the crossing of Figure 6.19.",
        Frame("number of REGTCP flows", RF, log_y=True),
        axis="n",
        lines=queues("EXP-6.5", "rf"),
        panels=ONE,
        values={"1": 1},
    ),
    figure(
        "6.21",
        "Constant loss of 1e-5: utilisation",
        "EXP-6.6a EXP-6.6b",
        "6 HSTCP flows fill the link, REGTCP needs 20 or more. Printed for RED.",
        Frame(FLOWS, LU),
        axis="n",
        lines=both("lu", "EXP-6.6a", "EXP-6.6b"),
    ),
    figure(
        "6.22",
        "Constant loss of 1e-5: congestion event rate",
        "EXP-6.6a EXP-6.6b",
        "At the loss rate until the link fills: beyond 6 flows (elsewhere 2) for HSTCP, beyond "
        "30 for "
        "REGTCP.",
        Frame(FLOWS, CER, log_y=True),
        axis="n",
        lines=both("cer", "EXP-6.6a", "EXP-6.6b"),
        values={"1e-5": 1e-5},
    ),
    figure(
        "6.23",
        "Constant loss of 1e-5, mixed sets: utilisation",
        "EXP-6.6c",
        "HSTCP's share falls with the number of flows under RED, and is constant or rises "
        "slightly under "
        "drop-tail.",
        Frame(FLOWS, LU),
        axis="n",
        lines=mixed("EXP-6.6c"),
    ),
    figure(
        "6.24",
        "Constant loss of 1e-5, mixed sets: relative fairness",
        "EXP-6.6c",
        "Grows with the number of flows under drop-tail, falls under RED.",
        Frame(FLOWS, RF),
        axis="n",
        lines=queues("EXP-6.6c", "rf"),
        panels=ONE,
    ),
    figure(
        "6.25",
        "Constant loss of 1e-5, mixed sets: bandwidth stolen",
        "EXP-6.6c EXP-6.6b",
        "Grows with the number of flows under drop-tail, falls under RED.",
        Frame(FLOWS, BS),
        axis="n",
        lines=stolen_lines("EXP-6.6c", "EXP-6.6b", "n"),
        panels=ONE,
    ),
    figure(
        "6.26",
        "One HSTCP and one REGTCP for an hour",
        "EXP-6.7",
        "Both windows stay at the same levels for the whole hour; the band of HSTCP is wide.",
        Frame(TIME, WINDOW),
        panels=("red",),
        draw=windows("EXP-6.7"),
    ),
    figure(
        "6.27",
        "Rate of parallel streams",
        "EXP-6.8a EXP-6.8b",
        "Grows with the number of streams and falls with the loss rate; HSTCP is ahead at very "
        "low loss "
        "and one REGTCP flow at high loss. Printed for RED.",
        Frame(LOSS, "packets per round trip", log_x=True, log_y=True),
        axis="loss",
        panels=("red",),
        lines=[
            *(
                Line("EXP-6.8a", "rate_regtcp", f"N = {n}", look_of_streams(n), {"n": n})
                for n in (1, 4, 7, 10)
            ),
            Line("EXP-6.8b", "rate_hstcp", "1 HSTCP", HSTCP, {"n": 1}),
        ],
    ),
    figure(
        "6.30",
        "Bulk transfer on a lossy link: the 10 long-lived flows",
        "EXP-6.9a EXP-6.9b",
        "Unaffected until the link is full, then degraded in proportion to the competitor.",
        Frame(LOSS, LU, log_x=True),
        axis="loss",
        lines=bulk("EXP-6.9a", "EXP-6.9b", "lu_regtcp", COUNTS_LOSS),
    ),
    figure(
        "6.31",
        "Bulk transfer on a lossy link: the competitor",
        "EXP-6.9a EXP-6.9b",
        "Where the link is full it depends on the number of streams only; all schemes do badly "
        "above 1e-3.",
        Frame(LOSS, LU, log_x=True),
        axis="loss",
        lines=bulk("EXP-6.9a", "EXP-6.9b", "lu_competitor", COUNTS_LOSS),
    ),
    figure(
        "6.32",
        "Bulk transfer on a lossy link: congestion event rate",
        "EXP-6.9a EXP-6.9b",
        "Follows the loss rate until the link is full.",
        Frame(LOSS, CER, log_x=True, log_y=True),
        axis="loss",
        lines=bulk("EXP-6.9a", "EXP-6.9b", "cer_total", COUNTS_LOSS),
    ),
    figure(
        "6.33",
        "Bulk transfer on a lossy link: relative fairness per flow",
        "EXP-6.9a EXP-6.9b",
        "N for N streams up to 1e-4; about 1 at 1e-3 and 5 at 1e-5 for HSTCP (RED), more under "
        "drop-tail.",
        Frame(LOSS, RF, log_x=True, log_y=True),
        axis="loss",
        lines=bulk("EXP-6.9a", "EXP-6.9b", "frf", COUNTS_LOSS),
    ),
    figure(
        "6.34",
        "Bulk transfer under bursts: the 10 long-lived flows",
        "EXP-6.10a EXP-6.10b",
        "Fall with the number of bursts; the more streams, the less is left.",
        Frame(BURSTS, LU),
        axis="k",
        lines=bulk("EXP-6.10a", "EXP-6.10b", "lu_regtcp", COUNTS_BURSTS),
    ),
    figure(
        "6.35",
        "Bulk transfer under bursts: the competitor",
        "EXP-6.10a EXP-6.10b",
        "Streams fall with bursts under RED, HSTCP rises; both almost constant under drop-tail.",
        Frame(BURSTS, LU),
        axis="k",
        lines=bulk("EXP-6.10a", "EXP-6.10b", "lu_competitor", COUNTS_BURSTS),
    ),
    figure(
        "6.36",
        "Bulk transfer under bursts: relative fairness per flow",
        "EXP-6.10a EXP-6.10b",
        "About N for N streams; HSTCP's rises with bursts under RED, and is spread widely under "
        "drop-tail.",
        Frame(BURSTS, RF, log_y=True),
        axis="k",
        lines=bulk("EXP-6.10a", "EXP-6.10b", "frf", COUNTS_BURSTS),
    ),
    figure(
        "6.37",
        "Bulk transfer under bursts: bandwidth stolen from the 10 flows",
        "EXP-6.10a EXP-6.10b",
        "Falls with the number of bursts for both queues and all schemes.",
        Frame(BURSTS, BS),
        axis="k",
        lines=bulk_stolen("EXP-6.10a", "EXP-6.10b", "k", COUNTS_BURSTS),
    ),
    figure(
        "6.38",
        "Slow start variants: windows",
        "EXP-6.11",
        "Table 6.1: slow start ends at 1.30, 3.55, 20.75 and 63.75 s with max_ssthresh 0, 1000, "
        "100 and "
        "10, at windows of 33,032, 12,726, 9980 and 9920 packets and with 27,274, 58, 1 and 1 "
        "lost or "
        "marked.",
        Frame(TIME, WINDOW),
        panels=ONE,
        draw=variants("cwnd_pkts"),
    ),
    figure(
        "6.39",
        "Slow start variants: sequence numbers",
        "EXP-6.11",
        "Massive loss stalls the standard slow start; a threshold of 10 packets stalls from the "
        "beginning.",
        Frame(TIME, "packets delivered"),
        panels=ONE,
        draw=variants("delivered_pkts", 60),
    ),
    figure(
        "7.2",
        "One HSTCP flow with a sound scoreboard (drop-tail)",
        "EXP-7.2 EXP-6.1",
        "The source shows double cuts of the window and permanent loss of performance, from SACK "
        "blocks "
        "that were wrong above windows of 1000 packets. Here is the same flow without the defect.",
        Frame(TIME, WINDOW),
        panels=("droptail",),
        draw=windows("EXP-6.1"),
    ),
]
