/* Definitions that only CAKE needs: packet headers, which CAKE reads for tins, host fairness and ACK filters. The comparison
 * uses none of these features, so packets of CAKE have no headers, and the code that reads headers never runs. */
#ifndef LONGHAUL_CAKE_H
#define LONGHAUL_CAKE_H

#define LONGHAUL_NO_HEADER ((void *)0)

struct iphdr { u8 ihl:4, version:4; u8 tos, protocol; u16 tot_len; u32 saddr, daddr; };
struct in6_addr { u32 words[4]; };
struct ipv6hdr { u8 priority:4, version:4; u8 nexthdr; u16 payload_len; struct in6_addr saddr, daddr; };
struct tcphdr { __be16 source, dest; __be32 seq, ack_seq; u16 res1:4, doff:4; };
struct udphdr { __be16 source, dest; };
struct tcp_sack_block_wire { __be32 start_seq, end_seq; };
enum { IPPROTO_TCP = 6, IPPROTO_IPV6 = 41 };
enum { ETH_P_IP = 0x0800, ETH_P_ARP = 0x0806, ETH_P_IPV6 = 0x86DD, INET_ECN_MASK = 3 };
enum {
	TCPOPT_EOL = 0, TCPOPT_NOP = 1, TCPOPT_MSS = 2, TCPOPT_WINDOW = 3, TCPOPT_SACK_PERM = 4, TCPOPT_SACK = 5,
	TCPOPT_TIMESTAMP = 8, TCPOPT_MD5SIG = 19, TCPOPT_FASTOPEN = 34, TCPOPT_EXP = 254,
	TCPOLEN_MSS = 4, TCPOLEN_WINDOW = 3, TCPOLEN_SACK_PERM = 2, TCPOLEN_SACK_BASE = 2, TCPOLEN_SACK_PERBLOCK = 8,
	TCPOLEN_TIMESTAMP = 10,
};
enum {
	TCP_FLAG_ACK = 1, TCP_FLAG_SYN = 2, TCP_FLAG_ECE = 4, TCP_FLAG_CWR = 8, TCP_FLAG_FIN = 16, TCP_FLAG_RST = 32,
	TCP_FLAG_URG = 64, TCP_FLAG_PSH = 128,
};
enum { SKB_GSO_TCPV4 = 1, SKB_GSO_TCPV6 = 2, SKB_GSO_DODGY = 4 };

#define tcp_flag_word(header) ((void)(header), 0)
#define __tcp_hdrlen(header) ((unsigned int)(header)->doff * 4)
#define before(a, b) ((s32)((u32)(a) - (u32)(b)) < 0)
#define after(a, b) before(b, a)
#define htons(value) __builtin_bswap16(value)
#define ntohs(value) __builtin_bswap16(value)
#define ntohl(value) __builtin_bswap32(value)
#define get_unaligned_be32(address) ((void)(address), 0U)
#define ipv6_addr_cmp(a, b) memcmp(a, b, sizeof(struct in6_addr))
#define ipv4_get_dsfield(header) ((header)->tos)
#define ipv6_get_dsfield(header) ((header)->priority)
#define ipv4_change_dsfield(header, mask, value) do { } while (0)
#define ipv6_change_dsfield(header, mask, value) do { } while (0)
#define ip_hdr(skb) ((struct iphdr *)(skb)->header)
#define ipv6_hdr(skb) ((struct ipv6hdr *)LONGHAUL_NO_HEADER)
#define skb_header_pointer(skb, offset, bytes, buffer) LONGHAUL_NO_HEADER
#define skb_network_offset(skb) 0
#define skb_transport_offset(skb) 0
#define skb_transport_header(skb) ((u8 *)0)
#define skb_mac_header(skb) ((u8 *)0)
#define skb_protocol(skb, skip_vlan) ((skb)->protocol)
#define pskb_may_pull(skb, bytes) ((skb)->has_header)
#define skb_try_make_writable(skb, bytes) (!(skb)->has_header)

struct skb_shared_info { u16 gso_size, gso_segs; u32 gso_type; };
static const struct skb_shared_info longhaul_one_segment __attribute__((unused));
#define skb_shinfo(skb) (&longhaul_one_segment)
#define skb_is_gso(skb) false
typedef u64 netdev_features_t;
#define NETIF_F_GSO_MASK 0ULL
#define netif_skb_features(skb) 0
#define skb_gso_segment(skb, features) ((struct sk_buff *)0)
#define IS_ERR_OR_NULL(pointer) (!(pointer))
#define skb_list_walk_safe(first, skb, following) \
	for (skb = (first), following = NULL; skb; skb = following)

/* Flows: the hash of a packet is set by the driver, so dissecting the packet's headers does nothing. */
struct flow_keys {
	struct { u16 addr_type; } control;
	struct { u8 ip_proto; } basic;
	struct { u32 flow_label; } tags;
	struct { u32 keyid; } keyid;
	struct { u32 ports; __be16 src, dst; } ports;
	struct { struct { __be32 src, dst; } v4addrs; struct { struct in6_addr src, dst; } v6addrs; } addrs;
};
enum { FLOW_DISSECTOR_KEY_IPV4_ADDRS = 1, FLOW_DISSECTOR_KEY_IPV6_ADDRS, FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL };
#define skb_flow_dissect_flow_keys(skb, keys, flags) ((void)memset(keys, 0, sizeof(*(keys))))
#define flow_hash_from_keys(keys) ((void)(keys), 0U)

static inline bool ktime_after(ktime_t a, ktime_t b) { return a > b; }
static inline bool ktime_before(ktime_t a, ktime_t b) { return a < b; }
static inline int ktime_compare(ktime_t a, ktime_t b) { return a < b ? -1 : a > b; }
static inline ktime_t ktime_add_ns(ktime_t time, u64 ns) { return time + (ktime_t)ns; }
static inline ktime_t ktime_add_ms(ktime_t time, u64 ms) { return time + (ktime_t)ms * NSEC_PER_MSEC; }

/* Random number that CAKE adds when it scales a quantum. With the largest value the quantum of a flow stays exact. */
static inline u16 get_random_u16(void) { return U16_MAX; }

#endif
