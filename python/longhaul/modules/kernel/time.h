/* All clocks show the simulated time. HZ is fixed at the build, as in a kernel. */
#ifndef LONGHAUL_TIME_H
#define LONGHAUL_TIME_H

#include "types.h"

#ifndef HZ
#define HZ 250
#endif

#define MSEC_PER_SEC 1000L
#define USEC_PER_MSEC 1000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define USEC_PER_JIFFY (USEC_PER_SEC / HZ)

/* Uptime when a run begins: an hour, so that no time is 0, which means none. */
#define LONGHAUL_UPTIME_NS (3600ULL * NSEC_PER_SEC)

extern u64 longhaul_now_ns;
extern unsigned long longhaul_jiffies;

#define jiffies longhaul_jiffies
#define jiffies_64 ((u64)longhaul_jiffies)
#define get_jiffies_64() jiffies_64
#define tcp_jiffies32 ((u32)longhaul_jiffies)

static inline u64 ktime_get_ns(void) { return longhaul_now_ns; }
static inline ktime_t ktime_get(void) { return (ktime_t)longhaul_now_ns; }
static inline ktime_t ktime_get_real(void) { return (ktime_t)longhaul_now_ns; }
static inline u64 local_clock(void) { return longhaul_now_ns; }
static inline u64 sched_clock(void) { return longhaul_now_ns; }
static inline s64 ktime_to_ns(ktime_t time) { return time; }
static inline s64 ktime_to_us(ktime_t time) { return time / NSEC_PER_USEC; }
static inline s64 ktime_to_ms(ktime_t time) { return time / NSEC_PER_MSEC; }
static inline ktime_t ns_to_ktime(u64 ns) { return (ktime_t)ns; }
static inline ktime_t ktime_sub(ktime_t a, ktime_t b) { return a - b; }
static inline ktime_t ktime_add(ktime_t a, ktime_t b) { return a + b; }
static inline s64 ktime_us_delta(ktime_t later, ktime_t earlier) { return (later - earlier) / NSEC_PER_USEC; }
static inline s64 ktime_ms_delta(ktime_t later, ktime_t earlier) { return (later - earlier) / NSEC_PER_MSEC; }
static inline ktime_t net_timedelta(ktime_t time) { return ktime_get() - time; }
static inline u64 tcp_clock_ns(void) { return longhaul_now_ns; }
static inline u64 tcp_clock_us(void) { return longhaul_now_ns / NSEC_PER_USEC; }

/* Times in micro- and milliseconds are rounded up to ticks. */
static inline unsigned long usecs_to_jiffies(unsigned int us) { return DIV_ROUND_UP((unsigned long)us, USEC_PER_JIFFY); }
static inline unsigned long msecs_to_jiffies(unsigned int ms) { return DIV_ROUND_UP((unsigned long)ms * HZ, MSEC_PER_SEC); }
static inline unsigned long nsecs_to_jiffies(u64 ns) { return (unsigned long)(ns / (NSEC_PER_SEC / HZ)); }
static inline unsigned int jiffies_to_usecs(unsigned long ticks) { return (unsigned int)(ticks * USEC_PER_JIFFY); }
static inline unsigned int jiffies_to_msecs(unsigned long ticks) { return (unsigned int)(ticks * (MSEC_PER_SEC / HZ)); }

#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define time_after32(a, b) ((s32)((u32)(b) - (u32)(a)) < 0)
#define time_before32(a, b) time_after32(b, a)
#define time_is_before_jiffies(a) time_after(jiffies, a)
#define time_in_range(a, low, high) (time_after_eq(a, low) && time_before_eq(a, high))

#endif
