"""Measures of bulk transfer (sections 6.8 to 6.10): parallel streams, or one HSTCP flow instead."""

from longhaul.studies.data import Curve, Data, NotRunError, together
from longhaul.studies.measures import Measures, most

MEASURES = Measures()
measure = MEASURES.register


def stolen_from_ten(data: Data, of: str, axis: str, queue: str, **cell: str | float) -> Curve:
    """What ten long-lived flows lose to a competitor, in per cent of the link."""
    alone = "EXP-6.9a" if of.startswith("EXP-6.9") else "EXP-6.10a"
    x, before, now = together(
        data.curve("lu_regtcp", axis, alone, queue=queue, n=0),
        data.curve("lu_regtcp", axis, of, queue=queue, **cell),
    )
    return Curve(x, before - now)


@measure
def streams_unaffected(data: Data, of: str, queue: str, full: float = 95) -> float:
    """The smallest part that ten flows keep of what they have alone, while the link is not full."""
    kept = []
    alone = data.curve("lu_regtcp", "loss", "EXP-6.9a", queue=queue, n=0)
    for row in data.cells(of, queue=queue).iter_rows(named=True):
        if row["lu_total"] < full and row.get("n") != 0:
            kept.append(row["lu_regtcp"] / alone.at(row["loss"]))
    return -most([-part for part in kept])


@measure
def loses_more_than_streams(data: Data, of: str, queue: str) -> float:
    """What one HSTCP flow keeps of its share as others are added, over what six streams keep.

    Streams of one protocol share equally: six of 6 + n.
    """
    share = data.curve("lu_hstcp", "n", of, queue=queue)
    first, last = share.x[0], share.x[-1]
    if first == last:
        raise NotRunError("both ends are needed")
    return float(share.y[-1] / share.y[0] / ((6 + first) / (6 + last)))
