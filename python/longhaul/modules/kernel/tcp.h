/* The interface between TCP and its congestion control, as the modules of Linux 6.1 to 6.18 see it, with the members
 * that the trees of BBR v3 (google/bbr) and TCP Prague (L4STeam/linux) add. Sources: include/net/tcp.h,
 * include/linux/tcp.h, include/net/inet_connection_sock.h and include/net/sock.h. */
#ifndef LONGHAUL_TCP_H
#define LONGHAUL_TCP_H

#include "module.h"
#include "time.h"
#include "types.h"

/* One struct replaces the kernel's several structs of a socket. */
#define tcp_sock sock
#define inet_connection_sock sock
#define inet_sock sock

#define TCP_CA_NAME_MAX 16
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_TS_HZ 1000
#define MAX_TCP_WINDOW 32767U
#define ICSK_CA_PRIV_SIZE 256
/* Maximum bytes that the stack sends as one packet, and of its headers. */
#define GSO_LEGACY_MAX_SIZE 65536u
#define GSO_MAX_SIZE 65536u
#define MAX_TCP_HEADER 320

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)

enum { TCP_ESTABLISHED = 1, TCP_CLOSE = 7, TCP_LISTEN = 10 };

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
	CA_EVENT_TLP_RECOVERY,
};

enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };

#define TCP_CONG_NON_RESTRICTED 0x1
#define TCP_CONG_NEEDS_ECN 0x2
#define TCP_CONG_NEEDS_ACCECN 0x4
#define TCP_CONG_NO_FALLBACK_RFC3168 0x8
#define TCP_CONG_WANTS_CE_EVENTS 0x10
#define TCP_CONG_WANTS_ECT_1 0x20
#define TCP_CONG_ECT_1_NEGOTIATION 0x40

#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_ECN_SEEN 8
#define TCP_ECN_LOW 16
#define TCP_ECN_ECT_PERMANENT 32
#define TCP_ECN_ECT_1 64

enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
enum { ICSK_ACK_SCHED = 1, ICSK_ACK_TIMER = 2, ICSK_ACK_PUSHED = 4, ICSK_ACK_PUSHED2 = 8, ICSK_ACK_NOW = 16 };
#define TCPCB_SACKED_ACKED 1
#define TCPCB_SACKED_RETRANS 2
#define TCPCB_LOST 4

struct minmax_sample { u32 t, v; };
struct minmax { struct minmax_sample s[3]; };
u32 minmax_running_max(struct minmax *, u32 window, u32 time, u32 value);
u32 minmax_running_min(struct minmax *, u32 window, u32 time, u32 value);
static inline u32 minmax_get(const struct minmax *filter) { return filter->s[0].v; }
static inline u32 minmax_reset(struct minmax *filter, u32 time, u32 value)
{
	filter->s[0] = filter->s[1] = filter->s[2] = (struct minmax_sample){ time, value };
	return value;
}

struct net {
	struct {
		u8 sysctl_tcp_min_tso_segs;
		u8 sysctl_tcp_plb_enabled;
		u8 sysctl_tcp_ecn;
	} ipv4;
};
extern struct net longhaul_net;

struct sk_buff {
	u32 len;
	char cb[96];
};
struct tcp_skb_cb {
	u32 seq, end_seq;
	u8 sacked;
	u32 pcount;
	struct {
		u64 first_tx_mstamp, delivered_mstamp;
		u32 delivered, delivered_ce, in_flight, lost;
		bool is_app_limited;
	} tx;
};
#define TCP_SKB_CB(skb) ((struct tcp_skb_cb *)(skb)->cb)
static inline int tcp_skb_pcount(const struct sk_buff *skb) { return (int)TCP_SKB_CB((struct sk_buff *)skb)->pcount; }
static inline u32 tcp_skb_mss(const struct sk_buff *skb) { return skb->len; }
static inline bool tcp_skb_tx_in_flight_is_suspicious(u32 pcount, u32 sacked, u32 in_flight)
{
	return (sacked & TCPCB_SACKED_ACKED) == 0 && in_flight < pcount;
}

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered, prior_delivered_ce;
	u32 prior_lost;
	s32 delivered, delivered_ce;
	s32 lost;
	u32 tx_in_flight;
	long interval_us;
	u32 snd_interval_us, rcv_interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 ece_delta;
	u32 prior_in_flight;
	u32 last_end_seq;
	bool is_app_limited, is_retrans, is_ack_delayed, is_acking_tlp_retrans_seq, is_ece;
};

#define TCP_PLB_SCALE 8
struct tcp_plb_state {
	u8 consec_cong_rounds : 5, unused : 3;
	u32 pause_until;
};
/* PLB has no other path. */
static inline void tcp_plb_init(const void *sk, struct tcp_plb_state *plb) { (void)sk, *plb = (struct tcp_plb_state){ 0 }; }
static inline void tcp_plb_update_state(const void *sk, struct tcp_plb_state *plb, int ratio) { (void)sk, (void)plb, (void)ratio; }
static inline void tcp_plb_check_rehash(void *sk, struct tcp_plb_state *plb) { (void)sk, (void)plb; }
static inline void tcp_plb_update_state_upon_rto(void *sk, struct tcp_plb_state *plb) { (void)sk, (void)plb; }

/* Data that `ss` shows; get_info, which fills them, is not called here. */
struct tcpvegas_info { u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt; };
struct tcp_dctcp_info { u16 dctcp_enabled, dctcp_ce_state; u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot; };
struct tcp_bbr_info {
	u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
	u32 bbr_bw_hi_lsb, bbr_bw_hi_msb, bbr_bw_lo_lsb, bbr_bw_lo_msb;
	u8 bbr_mode, bbr_phase, unused1, bbr_version;
	u32 bbr_inflight_lo, bbr_inflight_hi, bbr_extra_acked;
};
struct tcp_prague_info {
	u64 prague_alpha, prague_ai_ack_increase, prague_frac_cwnd, prague_frac_window, prague_rate_bytes;
	u32 prague_max_burst, prague_round, prague_rtt_target, prague_rtt_indep, prague_cwnd_mode;
	bool prague_enabled;
};
union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct tcp_dctcp_info dctcp;
	struct tcp_bbr_info bbr;
	struct tcp_prague_info prague;
};
enum { INET_DIAG_VEGASINFO = 3, INET_DIAG_DCTCPINFO = 9, INET_DIAG_BBRINFO = 16, INET_DIAG_PRAGUEINFO = 24 };

enum tcp_bbr_mode {
	BBR_MODE_STARTUP, BBR_MODE_DRAIN, BBR_MODE_PROBE_BW, BBR_MODE_PROBE_RTT,
};
enum tcp_bbr_phase {
	BBR_PHASE_INVALID, BBR_PHASE_STARTUP, BBR_PHASE_DRAIN, BBR_PHASE_PROBE_RTT, BBR_PHASE_PROBE_BW_UP,
	BBR_PHASE_PROBE_BW_DOWN, BBR_PHASE_PROBE_BW_CRUISE, BBR_PHASE_PROBE_BW_REFILL,
};

struct sock;
struct list_head { struct list_head *next, *prev; };

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*min_tso_segs)(struct sock *sk);
	u32 (*tso_segs)(struct sock *sk, u32 mss_now);
	void (*skb_marked_lost)(struct sock *sk, const struct sk_buff *skb);
#ifdef LONGHAUL_CONG_CONTROL_TAKES_FLAG /* Linux 6.10 and later */
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
#else
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
#endif
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 extension, int *attribute, union tcp_cc_info *info);
	char name[TCP_CA_NAME_MAX];
	struct module *owner;
	struct list_head list;
	u32 key, flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

int tcp_register_congestion_control(struct tcp_congestion_ops *operations);
static inline void tcp_unregister_congestion_control(struct tcp_congestion_ops *operations) { (void)operations; }

struct tcp_options_received {
	u32 rcv_tsval, rcv_tsecr;
	u16 saw_tstamp : 1, tstamp_ok : 1, sack_ok : 3, wscale_ok : 1;
	u16 mss_clamp;
};

struct sock {
	/* struct sock */
	unsigned long sk_pacing_rate, sk_max_pacing_rate;
	u32 sk_pacing_status;
	u32 sk_gso_max_size;
	u16 sk_gso_max_segs;
	u8 sk_pacing_shift, sk_state;
	u16 sk_family;
	u32 sk_priority, sk_mark, sk_txhash;
	/* struct inet_connection_sock */
	const struct tcp_congestion_ops *icsk_ca_ops;
	u8 icsk_ca_state : 5, icsk_ca_initialized : 1, icsk_ca_setsockopt : 1, icsk_ca_dst_locked : 1;
	u8 icsk_retransmits;
	u32 icsk_rto;
	struct { u32 pending, ato; } icsk_ack;
	/* struct tcp_sock */
	u32 snd_una, snd_nxt, snd_wnd, rcv_nxt, write_seq, high_seq, copied_seq;
	u32 snd_cwnd, snd_ssthresh, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, snd_cwnd_stamp;
	u32 prior_cwnd, prior_ssthresh, prr_delivered, prr_out, undo_marker, undo_retrans;
	u32 mss_cache, advmss, lsndtime, rcv_tstamp;
	u32 srtt_us, mdev_us, mdev_max_us, rttvar_us, rtt_seq;
	struct minmax rtt_min;
	u32 packets_out, sacked_out, lost_out, retrans_out, max_packets_out, max_packets_seq, cwnd_usage_seq;
	u32 delivered, delivered_ce, received_ce, lost, app_limited, reordering, total_retrans;
	u32 rate_delivered, rate_interval_us, rate_app_limited;
	u64 tcp_mstamp, tcp_clock_cache, tcp_wstamp_ns, first_tx_mstamp, delivered_mstamp;
	u64 bytes_acked, bytes_sent, bytes_retrans, segs_out, segs_in, data_segs_out;
	struct tcp_options_received rx_opt;
	u8 ecn_flags, is_cwnd_limited, is_sack_reneg, fast_ack_mode, tlp_orig_data_app_limited, nonagle;
	u32 tlp_high_seq;
	/* tcp_sock of TCP Prague's tree */
	u64 srtt_pace_us, mdev_pace_us, classic_ecn, alpha;
	u32 mrtt_pace_us, g_srtt_shift, g_mdev_shift, prague_target_rtt;
	struct { u16 inet_dport, inet_sport; u32 inet_daddr, inet_saddr; };
	u32 sk_rcv_saddr, sk_daddr;
	u8 sk_v6_rcv_saddr[16], sk_v6_daddr[16];
	/* State of the simulation. */
	u64 longhaul_draws;
	u32 longhaul_ts_offset;
	struct longhaul_flights *longhaul_flights;
	u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};

static inline struct tcp_sock *tcp_sk(const struct sock *sk) { return (struct tcp_sock *)sk; }
static inline struct inet_connection_sock *inet_csk(const struct sock *sk) { return (struct sock *)sk; }
static inline struct inet_sock *inet_sk(const struct sock *sk) { return (struct sock *)sk; }
static inline void *inet_csk_ca(const struct sock *sk) { return (void *)sk->icsk_ca_priv; }
static inline struct net *sock_net(const struct sock *sk) { (void)sk; return &longhaul_net; }
#define NET_INC_STATS(net, field) ((void)(net))
#define NET_ADD_STATS(net, field, value) ((void)(net), (void)(value))
#define __NET_INC_STATS(net, field) ((void)(net))
static inline bool sk_is_tcp(const struct sock *sk) { (void)sk; return true; }
#define AF_INET 2
#define AF_INET6 10
#define INET6_ADDRSTRLEN 48
#define ntohs(value) __builtin_bswap16(value)
#define snprintf(text, bytes, ...) 0

static inline bool before(u32 a, u32 b) { return (s32)(a - b) < 0; }
#define after(a, b) before(b, a)
static inline bool between(u32 value, u32 low, u32 high) { return high - low >= value - low; }

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp) { return tp->snd_cwnd; }
static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd) { tp->snd_cwnd = cwnd; }
static inline bool tcp_in_slow_start(const struct tcp_sock *tp) { return tp->snd_cwnd < tp->snd_ssthresh; }
static inline bool tcp_in_initial_slowstart(const struct tcp_sock *tp) { return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH; }
static inline bool tcp_in_cwnd_reduction(const struct sock *sk) { return (TCPF_CA_CWR | TCPF_CA_Recovery) & (1 << sk->icsk_ca_state); }
static inline bool tcp_is_cwnd_limited(const struct sock *sk) { return sk->is_cwnd_limited; }
static inline bool tcp_is_sack(const struct tcp_sock *tp) { (void)tp; return true; }
static inline bool tcp_is_reno(const struct tcp_sock *tp) { (void)tp; return false; }
static inline unsigned int tcp_left_out(const struct tcp_sock *tp) { return tp->sacked_out + tp->lost_out; }
static inline unsigned int tcp_packets_in_flight(const struct tcp_sock *tp) { return tp->packets_out - tcp_left_out(tp) + tp->retrans_out; }
static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	u32 kept = (sk->snd_cwnd >> 1) + (sk->snd_cwnd >> 2);

	return tcp_in_cwnd_reduction(sk) ? sk->snd_ssthresh : max(sk->snd_ssthresh, kept);
}
static inline u32 tcp_min_rtt(const struct tcp_sock *tp) { return minmax_get(&tp->rtt_min); }
static inline u32 tcp_stamp_us_delta(u64 later, u64 earlier) { return (u32)max_t(s64, (s64)(later - earlier), 0); }
static inline u32 tcp_time_stamp(const struct tcp_sock *tp) { return (u32)(tp->tcp_mstamp / (USEC_PER_SEC / TCP_TS_HZ)); }
#define tcp_time_stamp_ms(tp) tcp_time_stamp(tp)
#define tcp_time_stamp_ts(tp) tcp_time_stamp(tp)
static inline void tcp_mstamp_refresh(struct tcp_sock *tp) { tp->tcp_mstamp = tcp_clock_us(); }
static inline int tcp_mss_to_mtu(struct sock *sk, int mss) { (void)sk; return mss + 52; }
static inline bool tcp_ecn_mode_any(const struct tcp_sock *tp) { return tp->ecn_flags & TCP_ECN_OK; }
static inline bool tcp_ca_needs_ecn(const struct sock *sk) { return sk->icsk_ca_ops->flags & TCP_CONG_NEEDS_ECN; }
#define INET_ECN_xmit(sk) ((void)(sk))
#define INET_ECN_dontxmit(sk) ((void)(sk))
/* The simulation's receiver sends the acknowledgements. */
static inline void __tcp_send_ack(struct sock *sk, u32 rcv_nxt, ...) { (void)sk, (void)rcv_nxt; }
/* There are no BPF programs. */
enum { BPF_SOCK_OPS_BASE_RTT = 7, BPF_SOCK_OPS_NEEDS_ECN = 6 };
#define tcp_call_bpf(sk, operation, arguments, values) ((void)(sk), -EPERM)
static inline void inet_csk_clear_xmit_timer(struct sock *sk, int what) { (void)sk, (void)what; }

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked);
u32 tcp_reno_ssthresh(struct sock *sk);
u32 tcp_reno_undo_cwnd(struct sock *sk);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
void tcp_enter_cwr(struct sock *sk);
u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now, int min_tso_segs);
extern struct tcp_congestion_ops tcp_reno;

/* Random numbers, from a sequence for each connection. */
u32 get_random_u32(void);
static inline u32 get_random_u32_below(u32 ceiling) { return (u32)((u64)get_random_u32() * ceiling >> 32); }
#define get_random_u32_inclusive(low, high) ((low) + get_random_u32_below((high) - (low) + 1))
#define prandom_u32_max(ceiling) get_random_u32_below(ceiling)
#define prandom_u32() get_random_u32()
void get_random_bytes(void *memory, size_t bytes);

#endif
