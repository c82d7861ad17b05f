/* Interface between the simulation and a module's object file: plain data and one table of functions.
 * crates/modules/src/interface.rs has the same layouts; LONGHAUL_INTERFACE changes with them. */
#ifndef LONGHAUL_INTERFACE_H
#define LONGHAUL_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#define LONGHAUL_INTERFACE 1

/* Threshold that means none. */
#define LONGHAUL_INFINITE 0x7fffffffu

/* State of a connection at a call. Windows and counts are in segments; now_ns is the time since the run began. */
struct longhaul_facts {
	uint64_t now_ns;
	/* -1 without a sample. */
	int64_t rtt_us;
	/* Delivery-rate sample: delivered segments and their time; -1 without a sample. */
	int64_t rate_segments;
	int64_t rate_interval_us;
	uint32_t cwnd;
	uint32_t ssthresh;
	/* Segments acknowledged cumulatively, and sent beyond these. */
	uint32_t una;
	uint32_t packets_out;
	uint32_t sacked_out;
	uint32_t prior_in_flight;
	/* Totals of the connection so far. */
	uint32_t delivered;
	uint32_t delivered_ce;
	uint32_t lost;
	/* Segments newly reported: acknowledged cumulatively; also selectively; lost; marked. */
	uint32_t acked;
	uint32_t acked_sacked;
	uint32_t losses;
	uint32_t marks;
	/* Eight times the smoothed round-trip time, and the smallest one; 0 before the first sample. */
	uint32_t srtt_us;
	uint32_t min_rtt_us;
	/* Payload bytes of a full segment. */
	uint32_t mss;
	uint32_t flags;
};

enum {
	LONGHAUL_MAY_GROW = 1,       /* cong_avoid is due */
	LONGHAUL_CWND_LIMITED = 2,   /* the window limits the sender */
	LONGHAUL_APP_LIMITED = 4,    /* the application limited the rate sample */
	LONGHAUL_ECE = 8,
	LONGHAUL_COMPLETES = 16,     /* a recovery ends with this acknowledgement */
};

/* Decision of the module. */
struct longhaul_decision {
	uint32_t cwnd;
	uint32_t ssthresh;
	/* In payload bytes; 0 without pacing. */
	uint64_t pacing_bytes_per_s;
	uint32_t burst_segments;
};

enum longhaul_cause { LONGHAUL_LOSS, LONGHAUL_MARK };

/* A parameter of the module, in a linked list. */
struct longhaul_parameter {
	const char *name;
	const char *type;
	size_t bytes;
	void *value;
	/* For module_param_cb: sets the value from text; returns 0 or an error of the kernel. */
	int (*set)(const char *text);
	struct longhaul_parameter *next;
};

/* Hooks and needs of the registered operations. */
enum {
	LONGHAUL_HAS_CONG_CONTROL = 1,
	LONGHAUL_HAS_RELEASE = 2,
	LONGHAUL_NEEDS_ECN = 4,
	LONGHAUL_NEEDS_L4S = 8,
	LONGHAUL_HAS_PKTS_ACKED = 64,
	LONGHAUL_HAS_IN_ACK_EVENT = 128,
	LONGHAUL_HAS_CWND_EVENT = 256,
	LONGHAUL_HAS_SET_STATE = 512,
	LONGHAUL_HAS_CONG_AVOID = 1024,
};

struct sock;

/* The one symbol that an object exports: longhaul_module. */
struct longhaul_module {
	uint32_t interface;
	uint32_t facts_bytes;
	uint32_t hz;
	/* Bytes of a connection's state. */
	uint32_t sock_bytes;
	struct longhaul_parameter *(*parameters)(void);
	/* Runs the functions of module_init; returns 0, or the error of the first function that fails. */
	int (*load)(void);
	/* Returns the name of a registered algorithm; NULL past the last one. */
	const char *(*registered)(uint32_t index);
	/* Selects the first registered algorithm; returns its hooks and needs. */
	uint32_t (*choose)(void);
	void (*start)(struct sock *, const struct longhaul_facts *, uint64_t seed, struct longhaul_decision *);
	void (*ack)(struct sock *, const struct longhaul_facts *, struct longhaul_decision *);
	void (*reduce)(struct sock *, const struct longhaul_facts *, uint32_t cause, struct longhaul_decision *);
	void (*timeout)(struct sock *, const struct longhaul_facts *, uint32_t keeps_ssthresh, struct longhaul_decision *);
	void (*recovered)(struct sock *, const struct longhaul_facts *, struct longhaul_decision *);
	void (*undo)(struct sock *, const struct longhaul_facts *, struct longhaul_decision *);
	void (*restart)(struct sock *, const struct longhaul_facts *, struct longhaul_decision *);
	void (*release)(struct sock *);
};

#endif
