"""The driver of the kernel's queue disciplines, tested with a small discipline of our own."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from validation.queues.arrivals import PACKETS, PATTERNS
from validation.queues.kernel import build

# A discipline that holds two packets, marks a packet that finds one, and drops a waiting packet
# when its timer of one jiffy (4 ms) expires.
DISCIPLINE = """
struct two { struct timer_list timer; struct Qdisc *sch; };

static int two_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (qdisc_qlen(sch) >= sch->limit)
		return qdisc_drop(skb, sch, to_free);
	if (qdisc_qlen(sch))
		INET_ECN_set_ce(skb);
	return qdisc_enqueue_tail(skb, sch);
}

static void two_timer(struct timer_list *timer)
{
	struct two *two = from_timer(two, timer, timer);
	struct sk_buff *skb = qdisc_dequeue_head(two->sch);

	if (skb)
		kfree_skb(skb);
}

static int two_init(struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *extack)
{
	struct two *two = qdisc_priv(sch);

	two->sch = sch;
	sch->limit = nla_get_u32(&options[1]);
	timer_setup(&two->timer, two_timer, 0);
	mod_timer(&two->timer, jiffies + 1);
	return 0;
}

static struct Qdisc_ops two = {
	.id = "two", .priv_size = sizeof(struct two),
	.enqueue = two_enqueue, .dequeue = qdisc_dequeue_head, .init = two_init,
};
static int start(void) { return register_qdisc(&two); }
module_init(start);
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a compiler")
def test_packets_are_sent_marked_and_dropped_as_a_discipline_says(tmp_path: Path) -> None:
    (tmp_path / "two.c").write_text(DISCIPLINE)
    program = build([tmp_path / "two.c"], tmp_path, tmp_path / "driver")
    ms = 1_000_000
    # Five packets arrive at once and take 1.2 ms each, two during the third, one at an idle link.
    times = [0, 0, 0, 0, 0, 3 * ms, 3 * ms, 20 * ms]
    rows = [(time, 1500, 0, 1) for time in times]
    np.array(rows, np.uint64).tofile(tmp_path / "arrivals")
    np.zeros(1, np.uint64).tofile(tmp_path / "numbers")
    arguments = [
        str(part)
        for part in (
            program,
            "two",
            tmp_path / "arrivals",
            tmp_path / "fates",
            tmp_path / "numbers",
            0,
        )
    ]
    subprocess.run([*arguments, str(tmp_path / "numbers"), "1=2"], check=True)
    fates = np.fromfile(tmp_path / "fates", np.uint64).reshape(-1, 2)
    sent, marked, dropped = 1, 2, 3
    expected = [sent, sent, marked, dropped, dropped, sent, dropped, sent]
    assert fates[:, 0].tolist() == expected
    assert fates[:3, 1].tolist() == [0, 1_200_000, 2_400_000]
    # The timer drops this packet.
    assert fates[6].tolist() == [dropped, 4 * ms]
    assert fates[7].tolist() == [sent, 20 * ms]


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_are_a_million_packets_in_order(name: str) -> None:
    rows = PATTERNS[name](np.random.default_rng(1))
    assert rows.shape == (PACKETS, 4)
    assert (np.diff(rows[:, 0].astype(np.int64)) >= 0).all()
    assert rows[:, 1].max() <= 1500
