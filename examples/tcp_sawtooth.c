/* A congestion control for Linux, written after the kernel's interface alone: additive increase of so many segments a
 * round trip, and a decrease by so many 1024ths that is smaller while queueing delay is low.
 *
 *	longhaul module build examples/tcp_sawtooth.c --check
 *	congestion = { module = "tcp_sawtooth.so", increase = 2 }
 */
#include <linux/module.h>
#include <net/tcp.h>

static int increase = 1;
module_param(increase, int, 0644);
MODULE_PARM_DESC(increase, "segments per round trip");

static unsigned int decrease = 512;
module_param(decrease, uint, 0644);
MODULE_PARM_DESC(decrease, "1024ths of the window taken at a loss");

static bool gentle = true;
module_param(gentle, bool, 0644);
MODULE_PARM_DESC(gentle, "take half as much while the queue is short");

/* Derived when the module is loaded, as many of the kernel's derive constants. */
static u32 kept;

struct sawtooth {
	u32 base_rtt_us;
	u32 last_rtt_us;
};

static void sawtooth_init(struct sock *sk)
{
	struct sawtooth *saw = inet_csk_ca(sk);

	saw->base_rtt_us = ~0U;
	saw->last_rtt_us = 0;
}

static void sawtooth_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct sawtooth *saw = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	saw->last_rtt_us = sample->rtt_us;
	saw->base_rtt_us = min_t(u32, saw->base_rtt_us, sample->rtt_us);
}

static void sawtooth_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, max_t(u32, tcp_snd_cwnd(tp) / increase, 1), acked);
}

static u32 sawtooth_ssthresh(struct sock *sk)
{
	const struct sawtooth *saw = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));
	u32 left = cwnd * kept / 1024;

	/* Less than a quarter of the round trip is the queue's. */
	if (gentle && saw->last_rtt_us < saw->base_rtt_us + saw->base_rtt_us / 4)
		left = (left + cwnd) / 2;
	return max(left, 2U);
}

static struct tcp_congestion_ops sawtooth __read_mostly = {
	.init		= sawtooth_init,
	.ssthresh	= sawtooth_ssthresh,
	.cong_avoid	= sawtooth_avoid,
	.pkts_acked	= sawtooth_acked,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "sawtooth",
};

static int __init sawtooth_register(void)
{
	BUILD_BUG_ON(sizeof(struct sawtooth) > ICSK_CA_PRIV_SIZE);
	if (increase < 1 || decrease > 1024)
		return -EINVAL;
	kept = 1024 - decrease;
	return tcp_register_congestion_control(&sawtooth);
}

static void __exit sawtooth_unregister(void)
{
	tcp_unregister_congestion_control(&sawtooth);
}

module_init(sawtooth_register);
module_exit(sawtooth_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sawtooth TCP");
