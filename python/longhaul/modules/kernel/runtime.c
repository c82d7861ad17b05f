/* Calls a module's hooks in the order of tcp_ack and its subfunctions (Linux 6.1, net/ipv4/tcp_input.c), and has the
 * functions of TCP that modules call. Compiled into each object file. */
#include "kernel.h"
#include "flights.h"

extern void *calloc(size_t, size_t);
extern void free(void *);
extern unsigned long long strtoull(const char *, char **, int);

u64 longhaul_now_ns;
unsigned long longhaul_jiffies;
struct net longhaul_net = { .ipv4 = { .sysctl_tcp_min_tso_segs = 2 } };
static struct sock *current_flow;
static struct longhaul_parameter *parameters;
static struct longhaul_init *inits, **last_init = &inits;

#define MOST_REGISTERED 16
static const struct tcp_congestion_ops *registered[MOST_REGISTERED];
static unsigned int registered_count;
static const struct tcp_congestion_ops *chosen;

void *longhaul_allocate(size_t count, size_t bytes) { return calloc(count, bytes); }
void longhaul_free(const void *memory) { free((void *)memory); }

void longhaul_add_init(struct longhaul_init *init)
{
	*last_init = init;
	last_init = &init->next;
}

void longhaul_add_parameter(struct longhaul_parameter *parameter)
{
	parameter->next = parameters;
	parameters = parameter;
}

int tcp_register_congestion_control(struct tcp_congestion_ops *operations)
{
	if (!operations->ssthresh || !operations->undo_cwnd || !(operations->cong_avoid || operations->cong_control))
		return -EINVAL;
#ifdef LONGHAUL_NAME /* the requested algorithm, if a module has several */
	if (strcmp(operations->name, LONGHAUL_NAME) != 0)
		return 0;
#endif
	if (registered_count == MOST_REGISTERED)
		return -ENOMEM;
	registered[registered_count++] = operations;
	return 0;
}

/* Parameters that are set by functions. */

int param_set_uint_minmax(const char *text, const struct kernel_param *parameter, unsigned int min, unsigned int max)
{
	unsigned long long value = strtoull(text, NULL, 10);

	if (value < min || value > max)
		return -EINVAL;
	*(unsigned int *)parameter->arg = (unsigned int)value;
	return 0;
}

int param_set_uint(const char *text, const struct kernel_param *parameter)
{
	return param_set_uint_minmax(text, parameter, 0, UINT_MAX);
}

int param_set_int(const char *text, const struct kernel_param *parameter)
{
	*(int *)parameter->arg = (int)strtoull(text, NULL, 10);
	return 0;
}

int param_get_uint(char *text, const struct kernel_param *parameter) { (void)text, (void)parameter; return 0; }
int param_get_int(char *text, const struct kernel_param *parameter) { (void)text, (void)parameter; return 0; }

/* Random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */

u32 get_random_u32(void)
{
	u64 mixed = current_flow->longhaul_draws += 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	return (u32)((mixed ^ mixed >> 31) >> 32);
}

void get_random_bytes(void *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at++)
		((u8 *)memory)[at] = (u8)get_random_u32();
}

/* Extreme over a sliding window, from its three best values (lib/win_minmax.c; Kathleen Nichols' algorithm). */

static u32 extreme_of_window(struct minmax *filter, u32 window, u32 time, u32 value, bool largest)
{
	struct minmax_sample *best = filter->s, sample = { time, value };
	u32 age;
	int place;

#define AS_GOOD(than) (largest ? value >= (than).v : value <= (than).v)
	if (AS_GOOD(best[0]) || time - best[2].t > window)
		return minmax_reset(filter, time, value);
	for (place = 1; place < 3 && !AS_GOOD(best[place]); place++)
		;
#undef AS_GOOD
	for (; place < 3; place++)
		best[place] = sample;
	age = time - best[0].t;
	if (age > window) {
		for (int times = 0; times < 2 && time - best[0].t > window; times++) {
			best[0] = best[1];
			best[1] = best[2];
			best[2] = sample;
		}
	} else if (best[1].t == best[0].t && age > window / 4) {
		best[1] = best[2] = sample;
	} else if (best[2].t == best[1].t && age > window / 2) {
		best[2] = sample;
	}
	return best[0].v;
}

u32 minmax_running_max(struct minmax *filter, u32 window, u32 time, u32 value)
{
	return extreme_of_window(filter, window, time, value, true);
}

u32 minmax_running_min(struct minmax *filter, u32 window, u32 time, u32 value)
{
	return extreme_of_window(filter, window, time, value, false);
}

/* Standard TCP (net/ipv4/tcp_cong.c). */

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 before = tp->snd_cwnd, grown = min(before + acked, tp->snd_ssthresh);

	tp->snd_cwnd = min(grown, tp->snd_cwnd_clamp);
	return acked - (grown - before);
}

void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked)
{
	u32 more = 0;

	if (tp->snd_cwnd_cnt >= w) {
		tp->snd_cwnd_cnt = 0;
		more = 1;
	}
	tp->snd_cwnd_cnt += acked;
	if (tp->snd_cwnd_cnt >= w) {
		more += tp->snd_cwnd_cnt / w;
		tp->snd_cwnd_cnt %= w;
	}
	tp->snd_cwnd = min(tp->snd_cwnd + more, tp->snd_cwnd_clamp);
}

void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(sk))
		acked = tcp_slow_start(sk, acked);
	if (acked)
		tcp_cong_avoid_ai(sk, sk->snd_cwnd, acked);
}

u32 tcp_reno_ssthresh(struct sock *sk) { return max(sk->snd_cwnd / 2, 2U); }
u32 tcp_reno_undo_cwnd(struct sock *sk) { return max(sk->snd_cwnd, sk->prior_cwnd); }

struct tcp_congestion_ops tcp_reno = {
	.name = "reno",
	.flags = TCP_CONG_NON_RESTRICTED,
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

/* Segments in a burst (net/ipv4/tcp_output.c): the segments of a millisecond, and more at short round-trip times. */
u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now, int min_tso_segs)
{
	unsigned long bytes = sk->sk_pacing_rate >> sk->sk_pacing_shift;
	u32 shift = tcp_min_rtt(sk) >> 9;

	if (shift < BITS_PER_TYPE(sk->sk_gso_max_size))
		bytes += sk->sk_gso_max_size >> shift;
	bytes = min_t(unsigned long, bytes, sk->sk_gso_max_size);
	return max_t(u32, bytes / mss_now, min_tso_segs);
}

static void set_state(struct sock *sk, u8 state)
{
	if (sk->icsk_ca_ops->set_state)
		sk->icsk_ca_ops->set_state(sk, state);
	sk->icsk_ca_state = state;
}

static void tell(struct sock *sk, enum tcp_ca_event event)
{
	if (sk->icsk_ca_ops->cwnd_event)
		sk->icsk_ca_ops->cwnd_event(sk, event);
}

/* Begins a reduction of the window, to a threshold from the module (tcp_init_cwnd_reduction). */
static void begin_reduction(struct sock *sk, u8 state)
{
	sk->high_seq = sk->snd_nxt;
	sk->prior_cwnd = sk->snd_cwnd;
	sk->snd_cwnd_cnt = 0;
	sk->prr_delivered = sk->prr_out = 0;
	sk->snd_ssthresh = sk->icsk_ca_ops->ssthresh(sk);
	set_state(sk, state);
}

void tcp_enter_cwr(struct sock *sk)
{
	sk->prior_ssthresh = 0;
	if (sk->icsk_ca_state < TCP_CA_CWR) {
		sk->undo_marker = 0;
		begin_reduction(sk, TCP_CA_CWR);
	}
}

static void set_clock(u64 now_ns)
{
	longhaul_now_ns = LONGHAUL_UPTIME_NS + now_ns;
	longhaul_jiffies = (unsigned long)(longhaul_now_ns / (NSEC_PER_SEC / HZ));
}

static void take(struct sock *sk, const struct longhaul_facts *facts)
{
	current_flow = sk;
	set_clock(facts->now_ns);
	sk->tcp_mstamp = longhaul_now_ns / NSEC_PER_USEC;
	sk->tcp_clock_cache = sk->tcp_wstamp_ns = longhaul_now_ns;
	sk->snd_cwnd = facts->cwnd;
	sk->snd_ssthresh = facts->ssthresh;
	sk->snd_una = 1 + facts->una * facts->mss;
	sk->packets_out = facts->packets_out;
	sk->sacked_out = facts->sacked_out;
	sk->snd_nxt = sk->write_seq = sk->snd_una + facts->packets_out * facts->mss;
	sk->delivered = facts->delivered;
	sk->delivered_ce = facts->delivered_ce;
	sk->lost = facts->lost;
	sk->srtt_us = facts->srtt_us;
	sk->is_cwnd_limited = !!(facts->flags & LONGHAUL_CWND_LIMITED);
	sk->app_limited = facts->flags & LONGHAUL_APP_LIMITED ? max(facts->delivered + facts->packets_out, 1U) : 0;
	minmax_reset(&sk->rtt_min, longhaul_jiffies, facts->min_rtt_us ? facts->min_rtt_us : ~0U);
}

static u32 burst(struct sock *sk)
{
	const struct tcp_congestion_ops *ops = sk->icsk_ca_ops;
	u32 least = ops->min_tso_segs ? ops->min_tso_segs(sk) : longhaul_net.ipv4.sysctl_tcp_min_tso_segs;
	u32 segments = ops->tso_segs ? ops->tso_segs(sk, sk->mss_cache) : tcp_tso_autosize(sk, sk->mss_cache, least);

	return max(min_t(u32, segments, sk->sk_gso_max_segs), 1U);
}

static void give(struct sock *sk, struct longhaul_decision *decision)
{
	/* The first ten segments are not paced (tcp_update_skb_after_send). */
	bool begins = sk->delivered == 0;
	bool paces = sk->sk_pacing_status != SK_PACING_NONE && sk->sk_pacing_rate != ~0UL && !begins;

	decision->cwnd = max(sk->snd_cwnd, 1U);
	decision->ssthresh = sk->snd_ssthresh;
	decision->pacing_bytes_per_s = paces ? sk->sk_pacing_rate : 0;
	decision->burst_segments = paces ? burst(sk) : 0;
}

static void start(struct sock *sk, const struct longhaul_facts *facts, uint64_t seed, struct longhaul_decision *decision)
{
	memset(sk, 0, sizeof(*sk));
	sk->icsk_ca_ops = chosen;
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_pacing_rate = sk->sk_max_pacing_rate = ~0UL;
	sk->sk_pacing_shift = 10;
	sk->sk_gso_max_size = 65536;
	sk->sk_gso_max_segs = 65535;
	sk->snd_cwnd_clamp = ~0U;
	sk->snd_wnd = ~0U / 2;
	sk->mss_cache = sk->advmss = facts->mss;
	sk->reordering = 3;
	sk->rx_opt.tstamp_ok = sk->rx_opt.saw_tstamp = 1;
	sk->rx_opt.sack_ok = 1;
	sk->ecn_flags = chosen->flags & (TCP_CONG_NEEDS_ECN | TCP_CONG_NEEDS_ACCECN | TCP_CONG_WANTS_ECT_1) ? TCP_ECN_OK : 0;
	sk->longhaul_draws = seed;
	take(sk, facts);
#ifdef LONGHAUL_TIMESTAMPS
	sk->longhaul_ts_offset = get_random_u32();
#endif
	sk->delivered_mstamp = sk->first_tx_mstamp = sk->tcp_mstamp;
	sk->lsndtime = tcp_jiffies32;
	if (sk->icsk_ca_ops->init)
		sk->icsk_ca_ops->init(sk);
	sk->icsk_ca_initialized = 1;
	tell(sk, CA_EVENT_TX_START);
	give(sk, decision);
}

/* Ends a recovery or the response to a mark (tcp_end_cwnd_reduction, tcp_try_to_open). */
static void complete(struct sock *sk)
{
	bool reduced = tcp_in_cwnd_reduction(sk);

	if (reduced && !sk->icsk_ca_ops->cong_control)
		tell(sk, CA_EVENT_COMPLETE_CWR);
	sk->undo_marker = 0;
	if (sk->icsk_ca_state != TCP_CA_Open)
		set_state(sk, TCP_CA_Open);
}

#ifdef LONGHAUL_TIMESTAMPS
/* Timestamps of this acknowledgement, in milliseconds (RFC 7323): the echo is the send time of the segment. The receiver's
 * is half of the smallest round-trip time ago, plus an offset drawn for each connection (tcp_v4_init_ts_off). */
static void take_timestamps(struct sock *sk, const struct longhaul_facts *facts)
{
	u64 sent_us = sk->tcp_mstamp - (facts->rtt_us > 0 ? (u64)facts->rtt_us : facts->min_rtt_us);
	u64 answered_us = sk->tcp_mstamp - facts->min_rtt_us / 2;

	sk->rx_opt.rcv_tsecr = (u32)(sent_us / USEC_PER_MSEC);
	sk->rx_opt.rcv_tsval = (u32)(answered_us / USEC_PER_MSEC) + sk->longhaul_ts_offset;
}
#endif

static u32 ack_flags(const struct sock *sk, const struct longhaul_facts *facts)
{
	bool ece = facts->flags & LONGHAUL_ECE;
	bool slow = ece || facts->acked == 0 || facts->acked != facts->acked_sacked || sk->sacked_out;

	return slow ? CA_ACK_SLOWPATH | (ece ? CA_ACK_ECE : 0) : CA_ACK_WIN_UPDATE;
}

/* tcp_rate_gen */
static struct rate_sample rate_sample(struct sock *sk, const struct longhaul_facts *facts)
{
	struct rate_sample rate = {
		.delivered = -1,
		.interval_us = -1,
		.rtt_us = facts->rtt_us,
		.losses = (int)facts->losses,
		.acked_sacked = facts->acked_sacked,
		.ece_delta = facts->marks,
		.prior_in_flight = facts->prior_in_flight,
		.is_app_limited = !!(facts->flags & LONGHAUL_APP_LIMITED),
		.is_ece = facts->marks > 0,
		.last_end_seq = sk->snd_una,
	};
	struct longhaul_flight sent = { .in_flight = facts->prior_in_flight, .lost = facts->lost };

	if (facts->rate_segments < 0)
		return rate;
	rate.delivered = (s32)facts->rate_segments;
	rate.interval_us = (long)facts->rate_interval_us;
	rate.snd_interval_us = rate.rcv_interval_us = (u32)facts->rate_interval_us;
	rate.prior_delivered = facts->delivered - (u32)facts->rate_segments;
	rate.prior_mstamp = sk->tcp_mstamp - (u64)facts->rate_interval_us;
	if (sk->longhaul_flights)
		sent = longhaul_flight_at(sk->longhaul_flights, rate.prior_delivered);
	rate.tx_in_flight = sent.in_flight;
	rate.prior_lost = sent.lost;
	rate.lost = (s32)(facts->lost - sent.lost);
	rate.prior_delivered_ce = sent.delivered_ce;
	rate.delivered_ce = (s32)(facts->delivered_ce - sent.delivered_ce);
	return rate;
}

/* Sets the pacing rate, which modules without pacing read as the connection's rate (tcp_update_pacing_rate): two windows
 * per round trip below half of the threshold, else 1.2 windows. */
static void update_pacing_rate(struct sock *sk)
{
	u32 percent = sk->snd_cwnd < sk->snd_ssthresh / 2 ? 200 : 120;
	u64 eighths = (u64)sk->mss_cache * (USEC_PER_SEC / 100 << 3) * percent;

	eighths *= max(sk->snd_cwnd, sk->packets_out);
	if (sk->srtt_us)
		eighths /= sk->srtt_us;
	sk->sk_pacing_rate = min_t(u64, eighths, sk->sk_max_pacing_rate);
}

/* Calls the hook for each newly lost segment, as if all had been sent a round trip ago. */
static void mark_lost(struct sock *sk, const struct longhaul_facts *facts)
{
	struct sk_buff skb = { .len = facts->mss };
	struct tcp_skb_cb *scb = TCP_SKB_CB(&skb);
	struct longhaul_flight sent = { .in_flight = facts->prior_in_flight, .lost = facts->lost - facts->losses };

	if (sk->longhaul_flights)
		sent = longhaul_flight_at(sk->longhaul_flights, facts->delivered - max(facts->acked_sacked, facts->prior_in_flight));
	scb->pcount = 1;
	scb->tx.in_flight = sent.in_flight;
	scb->tx.lost = sent.lost;
	scb->tx.delivered = sent.delivered;
	scb->tx.delivered_mstamp = sk->tcp_mstamp;
	scb->tx.is_app_limited = !!(facts->flags & LONGHAUL_APP_LIMITED);
	sk->lost = facts->lost - facts->losses;
	for (u32 segment = 0; segment < facts->losses; segment++) {
		sk->lost++;
		sk->icsk_ca_ops->skb_marked_lost(sk, &skb);
	}
}

static void ack(struct sock *sk, const struct longhaul_facts *facts, struct longhaul_decision *decision)
{
	const struct tcp_congestion_ops *ops = sk->icsk_ca_ops;

	take(sk, facts);
#ifdef LONGHAUL_TIMESTAMPS
	take_timestamps(sk, facts);
#endif
	if (facts->acked_sacked)
		sk->delivered_mstamp = sk->tcp_mstamp;
	if (ops->pkts_acked) {
		u64 since_sent = facts->rate_segments > 0 ? (u64)facts->rate_segments : facts->acked_sacked;
		struct ack_sample sample = {
			.pkts_acked = facts->acked,
			.rtt_us = (s32)facts->rtt_us,
			.in_flight = (u32)(facts->mss * since_sent),
		};

		ops->pkts_acked(sk, &sample);
	}
	if (ops->in_ack_event)
		ops->in_ack_event(sk, ack_flags(sk, facts));
	if (ops->skb_marked_lost && facts->losses)
		mark_lost(sk, facts);
	if (facts->flags & LONGHAUL_COMPLETES)
		complete(sk);
	if (ops->cong_control) {
		struct rate_sample rate = rate_sample(sk, facts);
#ifdef LONGHAUL_CONG_CONTROL_TAKES_FLAG
		ops->cong_control(sk, sk->snd_una, facts->acked ? 0x404 : 0, &rate);
#else
		ops->cong_control(sk, &rate);
#endif
	} else {
		if (facts->flags & LONGHAUL_MAY_GROW) {
			ops->cong_avoid(sk, sk->snd_una, facts->acked_sacked);
			sk->snd_cwnd_stamp = tcp_jiffies32;
		}
		update_pacing_rate(sk);
	}
#ifdef LONGHAUL_FLIGHTS
	longhaul_note_flight(&sk->longhaul_flights, facts);
#endif
	sk->lsndtime = tcp_jiffies32;
	give(sk, decision);
}

/* tcp_enter_recovery, tcp_enter_cwr */
static void reduce(struct sock *sk, const struct longhaul_facts *facts, u32 cause, struct longhaul_decision *decision)
{
	take(sk, facts);
	if (cause == LONGHAUL_MARK) {
		sk->icsk_ca_state = min_t(u8, sk->icsk_ca_state, TCP_CA_Disorder);
		tcp_enter_cwr(sk);
	} else if (sk->icsk_ca_state == TCP_CA_CWR) {
		/* The window is already being reduced. */
		set_state(sk, TCP_CA_Recovery);
	} else {
		sk->prior_ssthresh = tcp_current_ssthresh(sk);
		sk->undo_marker = sk->snd_una;
		begin_reduction(sk, TCP_CA_Recovery);
	}
	give(sk, decision);
}

/* tcp_enter_loss */
static void timeout(struct sock *sk, const struct longhaul_facts *facts, u32 keeps_ssthresh, struct longhaul_decision *decision)
{
	take(sk, facts);
	if (!keeps_ssthresh) {
		sk->prior_ssthresh = tcp_current_ssthresh(sk);
		sk->prior_cwnd = sk->snd_cwnd;
		sk->snd_ssthresh = sk->icsk_ca_ops->ssthresh(sk);
		tell(sk, CA_EVENT_LOSS);
		sk->undo_marker = sk->snd_una;
	}
	sk->snd_cwnd = 1;
	sk->snd_cwnd_cnt = 0;
	sk->high_seq = sk->snd_nxt;
	set_state(sk, TCP_CA_Loss);
	give(sk, decision);
}

static void recovered(struct sock *sk, const struct longhaul_facts *facts, struct longhaul_decision *decision)
{
	take(sk, facts);
	complete(sk);
	give(sk, decision);
}

/* tcp_undo_cwnd_reduction */
static void undo(struct sock *sk, const struct longhaul_facts *facts, struct longhaul_decision *decision)
{
	take(sk, facts);
	sk->snd_cwnd = sk->icsk_ca_ops->undo_cwnd(sk);
	sk->undo_marker = 0;
	give(sk, decision);
}

/* tcp_event_data_sent */
static void restart(struct sock *sk, const struct longhaul_facts *facts, struct longhaul_decision *decision)
{
	take(sk, facts);
	/* The application had nothing to send (tcp_rate_check_app_limited). */
	sk->app_limited = max(sk->delivered, 1U);
	tell(sk, CA_EVENT_TX_START);
	sk->lsndtime = tcp_jiffies32;
	give(sk, decision);
}

static void release(struct sock *sk)
{
	current_flow = sk;
	if (sk->icsk_ca_ops->release)
		sk->icsk_ca_ops->release(sk);
	free(sk->longhaul_flights);
}

static struct longhaul_parameter *first_parameter(void) { return parameters; }

static int load(void)
{
	set_clock(0);
	for (struct longhaul_init *init = inits; init; init = init->next) {
		int error = init->run();

		if (error)
			return error;
	}
	return 0;
}

static const char *name_of(u32 index) { return index < registered_count ? registered[index]->name : NULL; }

static u32 choose(void)
{
	const struct tcp_congestion_ops *ops = chosen = registered[0];
	u32 l4s = TCP_CONG_NEEDS_ACCECN | TCP_CONG_WANTS_ECT_1;
	u32 traits = 0;

#define HAS(hook, trait) do { if (ops->hook) traits |= LONGHAUL_HAS_ ## trait; } while (0)
	HAS(cong_control, CONG_CONTROL);
	HAS(cong_avoid, CONG_AVOID);
	HAS(release, RELEASE);
	HAS(pkts_acked, PKTS_ACKED);
	HAS(in_ack_event, IN_ACK_EVENT);
	HAS(cwnd_event, CWND_EVENT);
	HAS(set_state, SET_STATE);
#undef HAS
	if (ops->flags & l4s)
		traits |= LONGHAUL_NEEDS_L4S;
	else if (ops->flags & TCP_CONG_NEEDS_ECN)
		traits |= LONGHAUL_NEEDS_ECN;
	return traits;
}

__attribute__((visibility("default"))) const struct longhaul_module longhaul_module = {
	.interface = LONGHAUL_INTERFACE,
	.facts_bytes = sizeof(struct longhaul_facts),
	.hz = HZ,
	.sock_bytes = sizeof(struct sock),
	.parameters = first_parameter,
	.load = load,
	.registered = name_of,
	.choose = choose,
	.start = start,
	.ack = ack,
	.reduce = reduce,
	.timeout = timeout,
	.recovered = recovered,
	.undo = undo,
	.restart = restart,
	.release = release,
};
