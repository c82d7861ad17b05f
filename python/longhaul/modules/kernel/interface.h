/* What passes between the simulation and the object of a module: plain data and one table of functions.
 * crates/modules/src/interface.rs has the same layouts; LONGHAUL_INTERFACE changes with them. */
#ifndef LONGHAUL_INTERFACE_H
#define LONGHAUL_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#define LONGHAUL_INTERFACE 1

/* No threshold. */
#define LONGHAUL_INFINITE 0x7fffffffu

/* Facts of a connection at a call. Windows and counts are in segments, times since the run began. */
struct longhaul_facts {
	uint64_t now_ns;
	/* -1 where nothing was measured. */
	int64_t rtt_us;
	/* Segments delivered and the time they took; -1 without a sample. */
	int64_t rate_segments;
	int64_t rate_interval_us;
	uint32_t cwnd;
	uint32_t ssthresh;
	/* Segments acknowledged cumulatively, and sent beyond these. */
	uint32_t una;
	uint32_t packets_out;
	uint32_t sacked_out;
	uint32_t prior_in_flight;
	/* Of the connection so far. */
	uint32_t delivered;
	uint32_t delivered_ce;
	uint32_t lost;
	/* Of this acknowledgement: cumulatively; with selective ones; taken for lost; marked. */
	uint32_t acked;
	uint32_t acked_sacked;
	uint32_t losses;
	uint32_t marks;
	/* Smoothed, and the smallest; 0 before the first sample. */
	uint32_t srtt_us;
	uint32_t min_rtt_us;
	/* Of a full segment: payload. */
	uint32_t mss;
	uint32_t flags;
};

enum {
	LONGHAUL_MAY_GROW = 1,       /* cong_avoid is due */
	LONGHAUL_CWND_LIMITED = 2,   /* the window was used */
	LONGHAUL_APP_LIMITED = 4,    /* of the rate sample */
	LONGHAUL_ECE = 8,
	LONGHAUL_COMPLETES = 16,     /* a recovery ends with this acknowledgement */
};

/* What the module decided. */
struct longhaul_decision {
	uint32_t cwnd;
	uint32_t ssthresh;
	/* 0: it does not pace. Payload bytes. */
	uint64_t pacing_bytes_per_s;
	uint32_t burst_segments;
};

enum longhaul_cause { LONGHAUL_LOSS, LONGHAUL_MARK };

/* A parameter of the module, in a list. */
struct longhaul_parameter {
	const char *name;
	const char *type;
	size_t bytes;
	void *value;
	/* For module_param_cb: sets the value from text; 0, or an error of the kernel's. */
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
	/* Of the state of a connection. */
	uint32_t sock_bytes;
	struct longhaul_parameter *(*parameters)(void);
	/* Runs the functions of module_init; 0, or the error of the first that fails. */
	int (*load)(void);
	/* Names of what has registered, by position; NULL past the last. */
	const char *(*registered)(uint32_t index);
	/* Chooses the only one. Its hooks and needs. */
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
