/* Definitions that only RED and DualPI2 need: a child FIFO, a timer in nanoseconds, and unused offload and events. */
#ifndef LONGHAUL_CHILDREN_H
#define LONGHAUL_CHILDREN_H

static inline int longhaul_fifo_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (sch->qstats.backlog + skb->len > sch->limit)
		return qdisc_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}
static const struct Qdisc_ops longhaul_fifo __attribute__((unused)) = {
	.id = "fifo", .enqueue = longhaul_fifo_enqueue, .dequeue = qdisc_dequeue_head,
};
static inline struct Qdisc *longhaul_child(unsigned int limit)
{
	struct Qdisc *child = calloc(1, sizeof(*child));

	child->ops = &longhaul_fifo;
	child->limit = limit;
	return child;
}
#define fifo_create_dflt(sch, ops, limit, extack) longhaul_child(limit)
#define qdisc_create_dflt(device, ops, parent, extack) longhaul_child(U32_MAX)
static struct Qdisc noop_qdisc __attribute__((unused));
#define IS_ERR(pointer) (!(pointer))
#define PTR_ERR(pointer) (-ENOMEM)
#define qdisc_enqueue(skb, child, to_free) ((child)->ops->enqueue(skb, child, to_free))
#define qdisc_dequeue_peeked(child) ((child)->ops->dequeue(child))
#define qdisc_peek_head(sch) ((sch)->q.head)
#define qdisc_hash_add(child, invisible) do { } while (0)
#define qdisc_purge_queue(child) do { } while (0)
#define qdisc_put(child) do { } while (0)
#define qdisc_reset(child) do { } while (0)
#define qdisc_replace(sch, child, place) (*(place))

/* Division by a constant. */
struct reciprocal_value { u32 divisor; };
static inline struct reciprocal_value reciprocal_value(u32 divisor) { return (struct reciprocal_value){ divisor }; }
#define reciprocal_divide(value, by) ((value) / (by).divisor)

/* Offload to hardware, and events. */
struct net_device { struct { int (*ndo_setup_tc)(struct net_device *, int, void *); } *netdev_ops; };
struct tc_red_qopt_offload {
	int command;
	u32 handle, parent;
	union {
		struct { u32 min, max, probability, limit; bool is_ecn, is_harddrop, is_nodrop; void *qstats; } set;
		struct { void *bstats, *qstats; } stats;
		void *xstats;
		u32 child_handle;
	};
};
enum { TC_RED_REPLACE, TC_RED_DESTROY, TC_RED_STATS, TC_RED_XSTATS, TC_RED_GRAFT, TC_SETUP_QDISC_RED };
#define TCQ_F_OFFLOADED 0x200
#define tc_can_offload(device) ((void)(device), false)
#define qdisc_offload_dump_helper(...) 0
#define qdisc_offload_graft_helper(...) do { } while (0)
struct tcf_qevent { int unused; };
#define tcf_qevent_handle(event, sch, skb, to_free, result) ((void)(result), (skb))
#define tcf_qevent_init(event, ...) ((void)(event), 0)
#define tcf_qevent_destroy(event, sch) do { } while (0)
#define tcf_qevent_validate_change(event, ...) ((void)(event), 0)
#define tcf_qevent_dump(skb, type, event) 0

/* Timer in nanoseconds. Like PIE's timers, it first expires half a second after the start. */
enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
struct hrtimer { enum hrtimer_restart (*function)(struct hrtimer *); u64 ns; };
void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *), int clock, int mode);
enum { CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT };
#define hrtimer_set_expires(timer, time) ((timer)->ns = (u64)(time))
#define hrtimer_start(timer, time, mode) ((void)(time), (timer)->ns = NSEC_PER_SEC / 2)
#define hrtimer_cancel(timer) ((timer)->ns = U64_MAX)

#define upper_32_bits(value) ((u32)((u64)(value) >> 32))
#define lower_32_bits(value) ((u32)(value))
enum { INET_ECN_NOT_ECT = 0 };

#endif
