/* The state of the connection when segments left, for modules whose rate samples have it (BBR v3: tx_in_flight, lost):
 * what is in the kernel remembered with each segment is remembered with each acknowledgement here. What left after one
 * saw as many segments in flight as there were before the next. */
#ifndef LONGHAUL_FLIGHTS_H
#define LONGHAUL_FLIGHTS_H

#include "interface.h"

struct longhaul_flight {
	uint32_t delivered, delivered_ce, lost, in_flight;
};

struct longhaul_flights {
	uint32_t capacity, begin, end; /* positions that count on, of a ring */
	struct longhaul_flight ring[];
};

/* The last acknowledgement after which not more than so many segments had been delivered; earlier ones are forgotten. */
static inline struct longhaul_flight longhaul_flight_at(struct longhaul_flights *flights, uint32_t delivered)
{
	uint32_t mask = flights->capacity - 1;

	while (flights->begin + 1 != flights->end &&
	       (int32_t)(delivered - flights->ring[(flights->begin + 1) & mask].delivered) >= 0)
		flights->begin++;
	return flights->ring[flights->begin & mask];
}

static inline void longhaul_note_flight(struct longhaul_flights **place, const struct longhaul_facts *facts)
{
	extern void *calloc(size_t, size_t);
	extern void free(void *);
	struct longhaul_flights *flights = *place;

	if (!flights || flights->end - flights->begin == flights->capacity) {
		uint32_t capacity = flights ? 2 * flights->capacity : 256;
		struct longhaul_flights *larger = calloc(1, sizeof(*larger) + capacity * sizeof(larger->ring[0]));

		larger->capacity = capacity;
		if (flights) {
			larger->begin = flights->begin;
			larger->end = flights->end;
			for (uint32_t at = flights->begin; at != flights->end; at++)
				larger->ring[at & (capacity - 1)] = flights->ring[at & (flights->capacity - 1)];
		}
		free(flights);
		*place = flights = larger;
	}
	if (flights->end != flights->begin)
		flights->ring[(flights->end - 1) & (flights->capacity - 1)].in_flight = facts->prior_in_flight;
	flights->ring[flights->end++ & (flights->capacity - 1)] = (struct longhaul_flight){
		.delivered = facts->delivered,
		.delivered_ce = facts->delivered_ce,
		.lost = facts->lost,
		.in_flight = facts->packets_out,
	};
}

#endif
