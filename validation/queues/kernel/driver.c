/* Runs a queue discipline of Linux in front of a link of 10 Mbit/s: reads arrivals, and writes the fate of each packet.
 *
 * driver DISCIPLINE ARRIVALS FATES DRAWS SKIPPED HASHES [TYPE=VALUE ...]
 *
 * The four files have rows of 64-bit numbers. ARRIVALS: time in ns, bytes, flow, and 1 if ECN-capable. FATES (written): 0
 * still queued, 1 sent, 2 sent with a mark, 3 dropped; and the time in ns. DRAWS: random numbers of 53 bits; the first
 * SKIPPED of them are not used. HASHES: hashes of flows. TYPE is the number of a Netlink attribute; RED has only the
 * attribute of its flags. At equal times, timers come before ends of transmissions, and these before arrivals. */
#include <math.h>

#include "qdisc.h"

#define NS_PER_BYTE 800
#define OPTIONS 64

struct row { u64 ns, bytes, flow, ect; };
struct fate { u64 what, ns; };
enum { SENT = 1, MARKED = 2, DROPPED = 3 };

u64 longhaul_now_ns;
unsigned long longhaul_jiffies;

static struct Qdisc_ops *registered[8];
static int count_registered;
static struct timer_list *timers[8];
static int count_timers;
static struct hrtimer *of_nanoseconds;
static struct qdisc_watchdog *watchdog;
static struct fate *fates;
static u64 *draws;
static size_t count_draws, used_draws;
static struct Qdisc *sch;
static bool is_dualpi2;
char longhaul_statistics[256];
static struct sk_buff *packets;
static bool busy;
static u64 busy_until;

void longhaul_add_init(struct longhaul_init *init) { init->run(); }

int register_qdisc(struct Qdisc_ops *ops)
{
	registered[count_registered++] = ops;
	return 0;
}

void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *), unsigned int flags)
{
	(void)flags;
	timer->function = function;
	timers[count_timers++] = timer;
}

void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *), int clock, int mode)
{
	(void)clock, (void)mode;
	timer->function = function;
	of_nanoseconds = timer;
}

void qdisc_watchdog_init(struct qdisc_watchdog *of_discipline, struct Qdisc *of)
{
	(void)of;
	watchdog = of_discipline;
}

void get_random_bytes(void *bytes, int count)
{
	if (used_draws == count_draws) {
		fprintf(stderr, "no random numbers are left\n");
		exit(1);
	}
	u64 number = draws[used_draws++] << 11;
	memcpy(bytes, &number, (size_t)count);
}

/* Returns the upper half of a random number, for BLUE, RED and DualPI2. Longhaul's DualPI2 draws no number while its drop
 * probability is 0. The probability is the first value of the discipline's statistics. */
u32 get_random_u32(void)
{
	u64 bits;

	if (is_dualpi2) {
		u32 probability;

		sch->ops->dump_stats(sch, NULL);
		memcpy(&probability, longhaul_statistics, sizeof(probability));
		if (!probability)
			return U32_MAX;
	}
	get_random_bytes(&bits, sizeof(bits));
	return (u32)(bits >> 32);
}

void *longhaul_allocate(size_t count, size_t bytes) { return calloc(count, bytes); }
void longhaul_free(const void *memory) { free((void *)memory); }

static void set_clock(u64 ns)
{
	longhaul_now_ns = ns;
	longhaul_jiffies = ns / (NSEC_PER_SEC / HZ);
}

static void note(const struct sk_buff *skb, u64 what) { fates[skb->number] = (struct fate){ what, longhaul_now_ns }; }

void longhaul_drop(struct sk_buff *skb) { note(skb, DROPPED); }

static void send(struct sk_buff *skb)
{
	busy = skb != NULL;
	if (!skb)
		return;
	note(skb, skb->ce ? MARKED : SENT);
	/* A discipline with a shaper delays packets itself, so its next packet is requested at once. */
	busy_until = longhaul_now_ns + (watchdog ? 0 : skb->len * NS_PER_BYTE);
}

static struct timer_list *first_timer(void)
{
	struct timer_list *first = NULL;

	for (int at = 0; at < count_timers; at++)
		if (timers[at]->pending && (!first || timers[at]->expires < first->expires))
			first = timers[at];
	return first;
}

static void catch_up(u64 now)
{
	while (true) {
		struct timer_list *timer = first_timer();
		u64 due = timer ? timer->expires * (NSEC_PER_SEC / HZ) : U64_MAX;
		u64 due_ns = of_nanoseconds ? of_nanoseconds->ns : U64_MAX;
		u64 end = busy ? busy_until : U64_MAX;

		if (!busy && watchdog && watchdog->pending)
			end = max(watchdog->ns, longhaul_now_ns);
		if (due <= end && due <= now) {
			set_clock(due);
			timer->pending = false;
			timer->function(timer);
		} else if (due_ns <= end && due_ns <= now) {
			set_clock(due_ns);
			of_nanoseconds->function(of_nanoseconds);
		} else if (end <= now) {
			set_clock(end);
			if (watchdog)
				watchdog->pending = false;
			send(sch->ops->dequeue(sch));
		} else {
			break;
		}
	}
	set_clock(now);
}

static void arrive(struct sk_buff *skb)
{
	struct sk_buff *to_free = NULL;

	if (!busy && sch->flags & TCQ_F_CAN_BYPASS && !qdisc_qlen(sch)) {
		send(skb);
		return;
	}
	sch->ops->enqueue(skb, sch, &to_free);
	if (!busy)
		send(sch->ops->dequeue(sch));
}

static void *numbers(const char *file, size_t *count)
{
	FILE *stream = fopen(file, "rb");

	if (!stream || fseek(stream, 0, SEEK_END)) {
		perror(file);
		exit(1);
	}
	size_t bytes = (size_t)ftell(stream);
	void *all = malloc(bytes);

	rewind(stream);
	*count = fread(all, sizeof(u64), bytes / sizeof(u64), stream);
	fclose(stream);
	return all;
}

/* Returns the hash with which the kernel selects the same queue as Longhaul: hash modulo number of queues. In the kernel
 * only CAKE computes this remainder; the other disciplines multiply the hash by the number of queues and divide by 2^32. */
static u32 hash_of(const char *discipline, u64 hash)
{
	return strcmp(discipline, "cake") ? (u32)(hash & 1023) << 22 : (u32)hash;
}

/* Types of RED's options, and the struct of the first option (include/uapi/linux/pkt_sched.h). */
enum { RED_PARAMETERS = 1, RED_HALVINGS, RED_MAX_P, RED_FLAGS };
struct red_parameters { u32 limit, min, max; u8 weight_log, p_log, cell_log, flags; };

/* Sets RED's options, which are structs: thresholds of 5 and 15 packets of 1500 B, weight 1/512, and a drop probability of
 * 0.1 at the upper threshold. The table of idle times is computed as by tc (iproute2, tc_red_eval_idle_damping): it has the
 * number of times that the average halves, but with a natural logarithm, and in ticks of 64 ns (/proc/net/psched), which the
 * kernel reads as microseconds. */
static void set_up_red(struct nlattr *given)
{
	static struct red_parameters options = { .limit = 1500000, .min = 7500, .max = 22500, .weight_log = 9 };
	static u8 halvings[256];
	double halvings_tick = -log(1 - 1.0 / (1 << options.weight_log)) * PSCHED_TICKS2NS(1) / (1500 * NS_PER_BYTE);

	while (31 / halvings_tick >= (512LL << options.cell_log))
		options.cell_log++;
	for (int cell = 0; cell < 256; cell++)
		halvings[cell] = (u8)min(((long long)cell << options.cell_log) * halvings_tick, 31.0);
	options.flags = (u8)given[RED_FLAGS].value;
	given[RED_FLAGS].given = false;
	given[RED_PARAMETERS] = (struct nlattr){ (u64)(uintptr_t)&options, true };
	given[RED_HALVINGS] = (struct nlattr){ (u64)(uintptr_t)halvings, true };
	given[RED_MAX_P] = (struct nlattr){ U32_MAX / 10, true };
}

static void set_up(const char *discipline, char **options, int count)
{
	static struct nlattr given[OPTIONS];

	for (int at = 0; at < count; at++) {
		char *value;
		long type = strtol(options[at], &value, 10);

		given[type] = (struct nlattr){ strtoull(value + 1, NULL, 10), true };
	}
	is_dualpi2 = !strcmp(discipline, "dualpi2");
	if (!strcmp(discipline, "red"))
		set_up_red(given);
	for (int at = 0; at < count_registered; at++) {
		if (strcmp(registered[at]->id, discipline))
			continue;
		sch = calloc(1, sizeof(*sch) + (size_t)registered[at]->priv_size);
		sch->ops = registered[at];
		if (sch->ops->init(sch, given, NULL)) {
			fprintf(stderr, "%s does not take these options\n", discipline);
			exit(1);
		}
		return;
	}
	fprintf(stderr, "%s is not built in\n", discipline);
	exit(1);
}

int main(int count, char **arguments)
{
	size_t words, count_hashes;

	if (count < 7)
		return 2;
	struct row *rows = numbers(arguments[2], &words);
	size_t arrivals = words / 4;

	draws = numbers(arguments[4], &count_draws);
	used_draws = strtoull(arguments[5], NULL, 10);
	u64 *hashes = numbers(arguments[6], &count_hashes);

	fates = calloc(arrivals, sizeof(*fates));
	packets = calloc(arrivals, sizeof(*packets));
	set_up(arguments[1], arguments + 7, count - 7);
	for (size_t at = 0; at < arrivals; at++) {
		struct sk_buff *skb = &packets[at];
		struct row row = rows[at];

		*skb = (struct sk_buff){
			.number = at, .len = (u32)row.bytes, .ect = row.ect == 1, .l4_hash = 1,
			.truesize = (u32)row.bytes, .hash = hash_of(arguments[1], hashes[row.flow % count_hashes]),
		};
		/* ECT(1) in the IP header, from which DualPI2 selects the queue. */
		if (is_dualpi2) {
			skb->has_header = 1;
			skb->protocol = htons(ETH_P_IP);
			ip_hdr(skb)->tos = skb->ect;
		}
		catch_up(row.ns);
		arrive(skb);
	}
	FILE *out = fopen(arguments[3], "wb");

	if (!out || fwrite(fates, sizeof(*fates), arrivals, out) != arrivals || fclose(out)) {
		perror(arguments[3]);
		return 1;
	}
	return 0;
}
