/* Made-up connections that call every hook of a module under many conditions: `longhaul module build --check`. */
#include "kernel.h"

extern int printf(const char *, ...);
extern int puts(const char *);
extern const struct longhaul_module longhaul_module;

struct path {
	u32 rtt_us, capacity;
	/* Acknowledgements from one loss, mark, timeout, idle time or undone reduction to the next; 0: none occurs. */
	u32 loss, mark, timeout, idle, undo;
	u32 stretch;
	bool unused;
};

static const struct path paths[] = {
	{ .rtt_us = 100000, .capacity = 800, .loss = 5000, .stretch = 2 },
	{ .rtt_us = 100000, .capacity = 800, .mark = 700, .stretch = 1 },
	{ .rtt_us = 200, .capacity = 20, .loss = 90, .mark = 40, .stretch = 2 },
	{ .rtt_us = 600000, .capacity = 60000, .loss = 40000, .stretch = 40 },
	{ .rtt_us = 40000, .capacity = 4, .loss = 7, .timeout = 50, .stretch = 1 },
	{ .rtt_us = 50000, .capacity = 100, .timeout = 333, .idle = 100, .undo = 77, .stretch = 2 },
	{ .rtt_us = 1, .capacity = 1, .loss = 3, .timeout = 10, .stretch = 1 },
	{ .rtt_us = 30000000, .capacity = 300, .loss = 1000, .idle = 50, .stretch = 2 },
	{ .rtt_us = 100000, .capacity = 800, .idle = 20, .stretch = 2, .unused = true },
};

#define ACKNOWLEDGEMENTS 60000

static void keep(struct longhaul_facts *facts, const struct longhaul_decision *decision)
{
	facts->cwnd = decision->cwnd;
	facts->ssthresh = decision->ssthresh;
}

static bool due(u32 number, u32 every) { return every && number % every == every - 1; }

/* Acknowledges some segments; the round-trip time grows with the segments in flight above the capacity. */
static void acknowledge(struct longhaul_facts *facts, const struct path *path, u32 number)
{
	u32 flight = min(facts->cwnd, 4 * path->capacity), acked = min(path->stretch, max(flight, 1U));
	u32 queue = flight > path->capacity ? flight - path->capacity : 0;
	u32 rtt_us = path->rtt_us + (u32)((u64)path->rtt_us * queue / path->capacity) + number % 7;

	facts->now_ns += 1000ULL * path->rtt_us * acked / path->capacity + 1;
	facts->rtt_us = number % 11 == 3 ? -1 : (s64)rtt_us;
	facts->min_rtt_us = path->rtt_us;
	facts->srtt_us = 8 * rtt_us;
	facts->prior_in_flight = flight;
	facts->packets_out = flight > acked ? flight - acked : 0;
	facts->acked = facts->acked_sacked = acked;
	facts->una += acked;
	facts->delivered += acked;
	facts->losses = due(number, path->loss) ? 1 : 0;
	facts->lost += facts->losses;
	facts->marks = due(number, path->mark) ? acked : 0;
	facts->delivered_ce += facts->marks;
	facts->rate_segments = number % 13 == 5 ? -1 : (s64)flight;
	facts->rate_interval_us = facts->rate_segments < 0 ? -1 : (s64)rtt_us;
	facts->flags = LONGHAUL_MAY_GROW | (path->unused ? LONGHAUL_APP_LIMITED : LONGHAUL_CWND_LIMITED) |
		       (facts->marks ? LONGHAUL_ECE : 0);
}

static void connect_over(const struct path *path, struct sock *sk)
{
	struct longhaul_facts facts = {
		.now_ns = 1000000, .cwnd = 10, .ssthresh = LONGHAUL_INFINITE, .mss = 1448, .srtt_us = 8 * path->rtt_us,
		.min_rtt_us = path->rtt_us, .rtt_us = path->rtt_us, .rate_segments = -1, .rate_interval_us = -1,
	};
	struct longhaul_decision decision;
	bool recovers = false;

	longhaul_module.start(sk, &facts, 1, &decision);
	keep(&facts, &decision);
	for (u32 number = 0; number < ACKNOWLEDGEMENTS; number++) {
		bool reduces = due(number, path->loss) || due(number, path->mark);

		acknowledge(&facts, path, number);
		if (reduces || recovers)
			facts.flags &= ~LONGHAUL_MAY_GROW;
		if (recovers && !reduces && number % 5 == 0) {
			facts.flags |= LONGHAUL_COMPLETES | LONGHAUL_MAY_GROW;
			recovers = false;
		}
		longhaul_module.ack(sk, &facts, &decision);
		keep(&facts, &decision);
		if (reduces && !recovers) {
			u32 cause = due(number, path->mark) ? LONGHAUL_MARK : LONGHAUL_LOSS;

			longhaul_module.reduce(sk, &facts, cause, &decision);
			keep(&facts, &decision);
			facts.cwnd = min(facts.cwnd, facts.ssthresh);
			recovers = true;
		}
		if (due(number, path->timeout)) {
			longhaul_module.timeout(sk, &facts, number % 3 == 0, &decision);
			keep(&facts, &decision);
			recovers = true;
		}
		if (due(number, path->undo)) {
			longhaul_module.undo(sk, &facts, &decision);
			keep(&facts, &decision);
			longhaul_module.recovered(sk, &facts, &decision);
			keep(&facts, &decision);
			recovers = false;
		}
		if (due(number, path->idle)) {
			facts.now_ns += 3000ULL * path->rtt_us;
			facts.packets_out = 0;
			longhaul_module.restart(sk, &facts, &decision);
			keep(&facts, &decision);
		}
	}
	longhaul_module.release(sk);
}

int main(void)
{
	if (longhaul_module.load() || !longhaul_module.registered(0)) {
		puts("error: the module does not register");
		return 1;
	}
	longhaul_module.choose();
	for (size_t path = 0; path < ARRAY_SIZE(paths); path++) {
		struct sock *sk = longhaul_allocate(1, longhaul_module.sock_bytes);

		connect_over(&paths[path], sk);
		longhaul_free(sk);
	}
	printf("%d connections of %d acknowledgements each\n", (int)ARRAY_SIZE(paths), ACKNOWLEDGEMENTS);
	return 0;
}
