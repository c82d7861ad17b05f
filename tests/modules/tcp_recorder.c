/* Controls window and pacing rate at all times, and ends at once with what it meets that the kernel never does: the test
 * of the order of calls. Also counts connections in a variable of the file. */
#include <linux/module.h>
#include <net/tcp.h>

static ulong rate = 250000;
module_param(rate, ulong, 0644);
MODULE_PARM_DESC(rate, "bytes per second");

static u32 connections;

struct recorder {
	u32 number;
	u32 reductions;
	u8 state;
	/* The state at the last decision. */
	u8 decided;
};

static void recorder_init(struct sock *sk)
{
	struct recorder *recorder = inet_csk_ca(sk);

	recorder->number = connections++;
	sk->sk_pacing_status = SK_PACING_NEEDED;
	sk->sk_pacing_rate = rate * (1 + recorder->number);
}

static void recorder_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct recorder *recorder = inet_csk_ca(sk);

	/* The acknowledgement is told before the state changes. */
	BUG_ON(inet_csk(sk)->icsk_ca_state != recorder->state);
	BUG_ON(sample->rtt_us == 0);
}

static void recorder_state(struct sock *sk, u8 new_state)
{
	struct recorder *recorder = inet_csk_ca(sk);

	BUG_ON(inet_csk(sk)->icsk_ca_state != recorder->state);
	recorder->state = new_state;
}

static void recorder_control(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct recorder *recorder = inet_csk_ca(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;

	BUG_ON(before(tp->snd_nxt, tp->snd_una));
	BUG_ON(rs->delivered > 0 && rs->interval_us < (long)tcp_min_rtt(tp));
	BUG_ON(rs->prior_in_flight < rs->acked_sacked);
	/* The state is that after the acknowledgement, which counts for itself: not for those that hinted at the loss. */
	BUG_ON(rs->losses > 0 && state < TCP_CA_Recovery);
	BUG_ON(state == TCP_CA_Recovery && recorder->decided < TCP_CA_Recovery && rs->acked_sacked > 1);
	recorder->decided = state;
	BUG_ON(tcp_jiffies32 != (u32)(tp->tcp_mstamp * HZ / USEC_PER_SEC));
	tcp_snd_cwnd_set(tp, 400);
}

static u32 recorder_ssthresh(struct sock *sk)
{
	struct recorder *recorder = inet_csk_ca(sk);

	recorder->reductions++;
	return tcp_sk(sk)->snd_ssthresh;
}

static struct tcp_congestion_ops recorder = {
	.init = recorder_init,
	.ssthresh = recorder_ssthresh,
	.cong_control = recorder_control,
	.pkts_acked = recorder_acked,
	.set_state = recorder_state,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.name = "recorder",
};

static int __init recorder_register(void)
{
	return tcp_register_congestion_control(&recorder);
}

module_init(recorder_register);
MODULE_LICENSE("GPL");
