/* Standard TCP as a module: the kernel has it built in (net/ipv4/tcp_cong.c), and offers its functions to modules. */
#include <linux/module.h>
#include <net/tcp.h>

static struct tcp_congestion_ops standard = {
	.name = "standard",
	.owner = THIS_MODULE,
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init standard_register(void)
{
	return tcp_register_congestion_control(&standard);
}
module_init(standard_register);

MODULE_LICENSE("GPL");
