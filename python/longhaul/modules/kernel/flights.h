/* State of the connection when segments were sent, for modules whose rate samples have it (BBR v3: tx_in_flight, lost).
 * The kernel stores it with each segment. Here it is stored with each acknowledgement: a segment sent after one
 * acknowledgement has the number of segments in flight before the next acknowledgement. */
#ifndef LONGHAUL_FLIGHTS_H
#define LONGHAUL_FLIGHTS_H

#include "interface.h"

struct longhaul_flight {
	uint32_t delivered, delivered_ce, lost, in_flight;
};

struct longhaul_flights {
	uint32_t capacity, begin, end; /* begin and end: positions, modulo the capacity */
	struct longhaul_flight ring[];
};

/* Returns the state at the last acknowledgement with at most `delivered` segments delivered; removes earlier states. */
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
