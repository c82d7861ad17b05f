/* Substitute for the kernel's headers that queue disciplines of Linux include, written for Longhaul. It has only the parts
 * of the kernel's interface that packets of one link and numeric options need. Classifiers, offload, statistics and dumps do
 * nothing. */
#ifndef LONGHAUL_QDISC_H
#define LONGHAUL_QDISC_H

#include <stdio.h>
#include <stdlib.h>

#include "module.h"
#include "time.h"
#include "types.h"

#define BITS_PER_BYTE 8
#define EMSGSIZE 90
#define SZ_32M (32 << 20)
#define NET_XMIT_SUCCESS 0
#define NET_XMIT_DROP 1
#define NET_XMIT_CN 2
#define __NET_XMIT_STOLEN 0x00010000
#define __NET_XMIT_BYPASS 0x00020000
#define net_xmit_drop_count(result) ((result) & __NET_XMIT_STOLEN ? 0 : 1)
#define TCQ_F_CAN_BYPASS 4
#define MODULE_ALIAS_NET_SCH(name) _Static_assert(1, name)
#define TCQ_F_DEQUEUE_DROPS 8
#define KTIME_MAX S64_MAX
#define IFNAMSIZ 16
#define GFP_KERNEL_ACCOUNT GFP_KERNEL
#define kvcalloc(count, bytes, flags) calloc(count, bytes)
#define kvzalloc(bytes, flags) calloc(1, bytes)
#define kvfree(memory) free(memory)
#define prefetch(address) ((void)(address))
#define rcu_dereference_bh(pointer) (pointer)
#define rcu_assign_pointer(place, value) ((place) = (value))
#define ____cacheline_aligned_in_smp

/* Lists: each is a ring of links, one of which is the head. */
struct list_head { struct list_head *next, *prev; };
static inline void INIT_LIST_HEAD(struct list_head *list) { list->next = list->prev = list; }
static inline int list_empty(const struct list_head *list) { return list->next == list; }
static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
	entry->prev = list->prev;
	entry->next = list;
	list->prev->next = entry;
	list->prev = entry;
}
static inline void list_del_init(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	INIT_LIST_HEAD(entry);
}
static inline void list_move_tail(struct list_head *entry, struct list_head *list)
{
	list_del_init(entry);
	list_add_tail(entry, list);
}
#define list_entry(link, type, member) container_of(link, type, member)
#define list_first_entry(list, type, member) list_entry((list)->next, type, member)
#define list_for_each(link, list) for (link = (list)->next; link != (list); link = link->next)

/* Packets: fields that the driver sets, and fields in which disciplines store data. */
struct sk_buff {
	struct sk_buff *next, *prev;
	u64 number;
	u32 len, truesize, hash, priority, mark;
	u8 ect, ce, l4_hash, encapsulation, has_header;
	/* IPv4 header, for disciplines that read the header. */
	u8 header[20];
	__be16 protocol;
	void *end, *dev;
	ktime_t tstamp;
	u8 cb[64];
};
struct qdisc_skb_cb { unsigned int pkt_len; u16 pkt_segs; u8 data[48]; };
static inline struct qdisc_skb_cb *qdisc_skb_cb(const struct sk_buff *skb) { return (struct qdisc_skb_cb *)skb->cb; }
#define qdisc_cb_private_validate(skb, bytes) BUILD_BUG_ON((bytes) > sizeof(((struct qdisc_skb_cb *)0)->data))
static inline unsigned int qdisc_pkt_len(const struct sk_buff *skb) { return skb->len; }
static inline u32 skb_get_hash(struct sk_buff *skb) { return skb->hash; }
static inline void skb_mark_not_on_list(struct sk_buff *skb) { skb->next = NULL; }
static inline int skb_get_dsfield(struct sk_buff *skb) { (void)skb; return -1; }
static inline int INET_ECN_set_ce(struct sk_buff *skb)
{
	if (skb->ect)
		skb->ce = 1;
	return skb->ect;
}
/* A discipline frees only packets that it drops. */
void longhaul_drop(struct sk_buff *skb);
#define kfree_skb(skb) longhaul_drop(skb)
#define consume_skb(skb) longhaul_drop(skb)
#define rtnl_kfree_skbs(head, tail) do { } while (0)

/* Options: an array of numbers, indexed by attribute type, instead of Netlink messages. */
struct nlattr { u64 value; bool given; };
struct nla_policy { int type, len, strict_start_type; };
struct netlink_ext_ack;
struct netlink_range_validation { u64 min, max; };
struct nla_bitfield32 { u32 value, selector; };
enum { NLA_U8, NLA_U16, NLA_U32, NLA_U64, NLA_S32, NLA_NESTED, NLA_FLAG, NLA_BINARY, NLA_BITFIELD32, NLA_UNSPEC, NLA_REJECT };
#define NLA_POLICY_FULL_RANGE(of_type, range) { .type = of_type }
#define NLA_POLICY_BITFIELD32(valid) { .type = NLA_BITFIELD32 }
#define NLA_POLICY_MASK(of_type, valid) { .type = of_type }
#define NLA_POLICY_MIN(of_type, least) { .type = of_type }
#define NLA_POLICY_MAX(of_type, most) { .type = of_type }
#define NLA_POLICY_RANGE(of_type, least, most) { .type = of_type }
#define NL_SET_ERR_MSG(extack, text) do { } while (0)
#define NL_SET_ERR_MSG_MOD(extack, text) do { } while (0)
#define NL_SET_ERR_MSG_ATTR(extack, attribute, text) do { } while (0)
static inline int nla_parse_nested(struct nlattr *tb[], int max, struct nlattr *options, const struct nla_policy *policy,
				   struct netlink_ext_ack *extack)
{
	(void)policy, (void)extack;
	for (int type = 0; type <= max; type++)
		tb[type] = options[type].given ? &options[type] : NULL;
	return 0;
}
#define nla_parse_nested_deprecated nla_parse_nested
#define nla_get_u8(attribute) ((u8)(attribute)->value)
#define nla_get_u32(attribute) ((u32)(attribute)->value)
#define nla_get_u32_default(attribute, otherwise) ((attribute) ? nla_get_u32(attribute) : (otherwise))
#define nla_len(attribute) 1
#define nla_get_u64(attribute) ((attribute)->value)
#define nla_get_s32(attribute) ((s32)(attribute)->value)
#define nla_data(attribute) ((void *)(uintptr_t)(attribute)->value)
#define nla_get_bitfield32(attribute) ((struct nla_bitfield32){ .value = (u32)(attribute)->value })
#define nla_nest_start(skb, type) ((struct nlattr *)0)
#define nla_nest_start_noflag(skb, type) ((struct nlattr *)0)
#define nla_nest_end(skb, nest) 0
#define nla_nest_cancel(skb, nest) do { } while (0)
#define nla_put(...) 0
#define nla_put_u8(...) 0
#define nla_put_u32(...) 0
#define nla_put_s32(...) 0
#define nla_put_flag(...) 0
#define nla_put_u64_64bit(...) 0
#define nla_put_bitfield32(...) 0

/* Disciplines. */
struct Qdisc;
struct gnet_dump;
struct tcf_block;
struct tcf_proto;
struct tcmsg { u32 tcm_handle, tcm_info; };
struct tcf_result { unsigned long class; u32 classid; };
struct Qdisc_class_ops;
struct qdisc_walker { int stop, skip, count; int (*fn)(struct Qdisc *, unsigned long, struct qdisc_walker *); };
struct Qdisc_ops {
	const char *id;
	int priv_size;
	const struct Qdisc_class_ops *cl_ops;
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	struct sk_buff *(*peek)(struct Qdisc *);
	int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*reset)(struct Qdisc *);
	void (*destroy)(struct Qdisc *);
	int (*change)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	int (*dump)(struct Qdisc *, struct sk_buff *);
	int (*dump_stats)(struct Qdisc *, struct gnet_dump *);
	void (*attach)(struct Qdisc *);
	void *owner;
};
struct Qdisc_class_ops {
	int (*graft)(struct Qdisc *, unsigned long, struct Qdisc *, struct Qdisc **, struct netlink_ext_ack *);
	struct Qdisc *(*leaf)(struct Qdisc *, unsigned long);
	unsigned long (*find)(struct Qdisc *, u32);
	void (*walk)(struct Qdisc *, struct qdisc_walker *);
	struct tcf_block *(*tcf_block)(struct Qdisc *, unsigned long, struct netlink_ext_ack *);
	unsigned long (*bind_tcf)(struct Qdisc *, unsigned long, u32);
	void (*unbind_tcf)(struct Qdisc *, unsigned long);
	int (*dump)(struct Qdisc *, unsigned long, struct sk_buff *, struct tcmsg *);
	int (*dump_stats)(struct Qdisc *, unsigned long, struct gnet_dump *);
};
struct gnet_stats_queue { u32 qlen, backlog, drops, requeues, overlimits; };
struct gnet_stats_basic_sync { u64 bytes, packets; };
struct qdisc_skb_head { struct sk_buff *head, *tail; u32 qlen; };
struct sk_buff_head { struct sk_buff *head; };
struct Qdisc {
	unsigned int flags, limit;
	const struct Qdisc_ops *ops;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
	struct gnet_stats_basic_sync bstats;
	struct sk_buff_head gso_skb;
	u32 handle, parent;
	void *dev_queue;
	u64 privdata[];
};
static inline void *qdisc_priv(struct Qdisc *sch) { return sch->privdata; }
int register_qdisc(struct Qdisc_ops *ops);
static inline void unregister_qdisc(struct Qdisc_ops *ops) { (void)ops; }
static inline unsigned int qdisc_qlen(const struct Qdisc *sch) { return sch->q.qlen; }
static inline int qdisc_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
	skb->next = NULL;
	if (sch->q.head)
		sch->q.tail->next = skb;
	else
		sch->q.head = skb;
	sch->q.tail = skb;
	sch->q.qlen++;
	sch->qstats.backlog += skb->len;
	return NET_XMIT_SUCCESS;
}
static inline struct sk_buff *__qdisc_dequeue_head(struct qdisc_skb_head *queue)
{
	struct sk_buff *skb = queue->head;

	if (skb) {
		queue->head = skb->next;
		queue->qlen--;
		skb->next = NULL;
	}
	return skb;
}
static inline struct sk_buff *qdisc_dequeue_head(struct Qdisc *sch)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	if (skb)
		sch->qstats.backlog -= skb->len;
	return skb;
}
static inline int qdisc_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	(void)to_free;
	sch->qstats.drops++;
	longhaul_drop(skb);
	return NET_XMIT_DROP;
}
#define __qdisc_drop(skb, to_free) longhaul_drop(skb)
/* Drop reasons, which newer kernels have. */
enum qdisc_drop_reason {
	QDISC_DROP_UNSPEC, QDISC_DROP_GENERIC, QDISC_DROP_OVERLIMIT, QDISC_DROP_CONGESTED, QDISC_DROP_MAXFLOWS,
	QDISC_DROP_FLOOD_PROTECTION, QDISC_DROP_L4S_STEP_NON_ECN,
};
#define qdisc_drop_reason(skb, sch, to_free, reason) ((void)(reason), qdisc_drop(skb, sch, to_free))
#define qdisc_dequeue_drop(sch, skb, reason) longhaul_drop(skb)
#define tcf_set_qdisc_drop_reason(skb, reason) do { } while (0)
#define rtnl_qdisc_drop(skb, sch) longhaul_drop(skb)
#define qdisc_qstats_drop(sch) ((sch)->qstats.drops++)
#define qdisc_qstats_overlimit(sch) ((sch)->qstats.overlimits++)
#define qdisc_qstats_backlog_inc(sch, skb) ((sch)->qstats.backlog += (skb)->len)
#define qdisc_qstats_backlog_dec(sch, skb) ((sch)->qstats.backlog -= (skb)->len)
#define qdisc_bstats_update(sch, skb) do { } while (0)
#define qdisc_tree_reduce_backlog(sch, packets, bytes) do { (void)(packets); (void)(bytes); } while (0)
#define qdisc_reset_queue(sch) do { } while (0)
#define qdisc_peek_dequeued NULL
#define qdisc_dequeue_internal(sch, direct) ((sch)->ops->dequeue(sch))
#define qdisc_dev(sch) ((void *)0)
/* Largest packet of a link that adds no header. */
#define psched_mtu(device) 1500
#define skb_peek(list) ((list)->head)
#define __skb_queue_head(list, skb) do { (list)->head = (skb); } while (0)
#define sch_tree_lock(sch) do { } while (0)
#define sch_tree_unlock(sch) do { } while (0)
typedef int spinlock_t;
#define qdisc_lock(sch) ((spinlock_t *)0)
#define qdisc_root_sleeping(sch) (sch)
#define spin_lock(lock) ((void)(lock))
#define spin_unlock(lock) ((void)(lock))
/* Statistics that the discipline has last reported. */
extern char longhaul_statistics[256];
#define gnet_stats_copy_app(dump, data, bytes) ((void)memcpy(longhaul_statistics, data, min((size_t)(bytes), sizeof(longhaul_statistics))), 0)
#define gnet_stats_copy_queue(...) 0

/* Filters: none is set. */
#define TC_H_MAJ(handle) ((handle) & 0xFFFF0000U)
#define TC_H_MIN(handle) ((handle) & 0x0000FFFFU)
#define TC_H_MAKE(major, minor) (((major) & 0xFFFF0000U) | ((minor) & 0x0000FFFFU))
#define tcf_classify_qdisc(...) (-1)
#define tcf_classify(...) (-1)
#define tcf_block_get(...) 0
#define tcf_block_put(block) do { } while (0)
#define tc_qdisc_stats_dump(...) true

/* Time. */
typedef u64 psched_time_t;
typedef long psched_tdiff_t;
#define PSCHED_SHIFT 6
#define PSCHED_TICKS2NS(ticks) ((s64)(ticks) << PSCHED_SHIFT)
#define PSCHED_NS2TICKS(ns) ((ns) >> PSCHED_SHIFT)
#define PSCHED_TICKS_PER_SEC PSCHED_NS2TICKS(NSEC_PER_SEC)
static inline psched_time_t psched_get_time(void) { return PSCHED_NS2TICKS(ktime_get_ns()); }
static inline u32 reciprocal_scale(u32 value, u32 end) { return (u32)(((u64)value * end) >> 32); }
struct timer_list { void (*function)(struct timer_list *); unsigned long expires; bool pending; };
void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *), unsigned int flags);
static inline int mod_timer(struct timer_list *timer, unsigned long expires)
{
	timer->expires = expires;
	timer->pending = true;
	return 0;
}
#define del_timer_sync(timer) ((timer)->pending = false)
#define timer_delete_sync(timer) del_timer_sync(timer)
#define del_timer(timer) del_timer_sync(timer)
#define timer_delete(timer) del_timer_sync(timer)
#define from_timer(variable, timer, member) container_of(timer, __typeof__(*variable), member)
#define timer_container_of(variable, timer, member) from_timer(variable, timer, member)

/* Timer by which a discipline requests the next dequeue. */
struct qdisc_watchdog { u64 ns; bool pending; };
void qdisc_watchdog_init(struct qdisc_watchdog *watchdog, struct Qdisc *sch);
static inline void qdisc_watchdog_schedule_ns(struct qdisc_watchdog *watchdog, u64 ns)
{
	watchdog->ns = ns;
	watchdog->pending = true;
}
#define qdisc_watchdog_cancel(watchdog) ((watchdog)->pending = false)

/* Random numbers: the same numbers that Longhaul's disciplines draw. */
void get_random_bytes(void *bytes, int count);

u32 get_random_u32(void);

#include "cake.h"
#include "children.h"

#endif
