/* Integer types, arithmetic and annotations of the kernel. */
#ifndef LONGHAUL_TYPES_H
#define LONGHAUL_TYPES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16;
typedef uint32_t u32, __u32, __be32;
/* As in the kernel, "long long" on every platform: printf formats rely on it. */
typedef unsigned long long u64, __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef long long s64, __s64;
typedef s64 ktime_t;
typedef unsigned char unchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define U8_MAX ((u8)~0U)
#define U16_MAX ((u16)~0U)
#define U32_MAX ((u32)~0U)
#define U64_MAX ((u64)~0ULL)
#define S16_MAX ((s16)(U16_MAX >> 1))
#define S32_MAX ((s32)(U32_MAX >> 1))
#define S32_MIN ((s32)(-S32_MAX - 1))
#define S64_MAX ((s64)(U64_MAX >> 1))
#define S64_MIN ((s64)(-S64_MAX - 1))
#define U32_C(number) number ## U
#define U64_C(number) number ## ULL
#define S64_C(number) number ## LL
#define BITS_PER_LONG (8 * (int)sizeof(long))
#define BITS_PER_TYPE(type) (8 * (int)sizeof(type))

#define EPERM 1
#define ENOENT 2
#define ENOMEM 12
#define EEXIST 17
#define EINVAL 22
#define ERANGE 34
#define EOPNOTSUPP 95

#define __init
#define __exit
#define __initdata
#define __read_mostly
#define __net_init
#define __net_exit
#define __user
#define __rcu
#define __force
#define __bpf_kfunc
#define __percpu
#define __cacheline_aligned
#define ____cacheline_aligned
#define ____cacheline_aligned_in_smp
#define __packed __attribute__((packed))
#define __aligned(bytes) __attribute__((aligned(bytes)))
#define __used __attribute__((used))
#define __maybe_unused __attribute__((unused))
#define __always_unused __attribute__((unused))
#define __must_check
#define __pure __attribute__((pure))
#undef __attribute_const__
#define __attribute_const__ __attribute__((const))
#define __cold
#define __weak __attribute__((weak))
#define __printf(format, first)
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define fallthrough __attribute__((fallthrough))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define barrier() __asm__ __volatile__("" ::: "memory")
#define smp_mb() barrier()
#define smp_rmb() barrier()
#define smp_wmb() barrier()
#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)
#define rcu_dereference(pointer) (pointer)

#define READ_ONCE(variable) (*(const volatile __typeof__(variable) *)&(variable))
#define WRITE_ONCE(variable, value) (*(volatile __typeof__(variable) *)&(variable) = (value))
#define data_race(expression) (expression)
#define xchg(place, value) ({ __typeof__(*(place)) _old = *(place); *(place) = (value); _old; })
#define cmpxchg(place, expected, value) ({				\
	__typeof__(*(place)) _old = *(place);				\
	if (_old == (expected))						\
		*(place) = (value);					\
	_old; })

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(number) (1UL << (number))
#define BIT_ULL(number) (1ULL << (number))
#define GENMASK(high, low) ((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))
#define __stringify_text(...) #__VA_ARGS__
#define __stringify(...) __stringify_text(__VA_ARGS__)
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define typecheck(type, value) ({ type _wanted; __typeof__(value) _given; (void)(&_wanted == &_given); 1; })
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), "BUILD_BUG_ON: " #condition)
#define BUILD_BUG_ON_MSG(condition, text) _Static_assert(!(condition), text)
#define static_assert(...) _Static_assert(__VA_ARGS__, "static_assert")
#define IS_ENABLED(option) 0
#define IS_BUILTIN(option) 0
#define IS_MODULE(option) 0

/* A broken invariant ends the process by a trap; warnings print nothing. */
#define BUG_ON(condition) do { if (unlikely(condition)) __builtin_trap(); } while (0)
#define BUG() __builtin_trap()
#define WARN_ON(condition) unlikely(!!(condition))
#define WARN_ON_ONCE(condition) WARN_ON(condition)
#define WARN(condition, ...) WARN_ON(condition)
#define WARN_ONCE(condition, ...) WARN_ON(condition)

#define __pick(a, op, b) ({ __auto_type _a = (a); __auto_type _b = (b); _a op _b ? _a : _b; })
#define __pick_as(type, a, op, b) ({ type _a = (a); type _b = (b); _a op _b ? _a : _b; })
#define min(a, b) __pick(a, <, b)
#define max(a, b) __pick(a, >, b)
#define min_t(type, a, b) __pick_as(type, a, <, b)
#define max_t(type, a, b) __pick_as(type, a, >, b)
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define min_not_zero(a, b) ({						\
	__auto_type _x = (a);						\
	__auto_type _y = (b);						\
	_x == 0 ? _y : (_y == 0 ? _x : min(_x, _y)); })
#define clamp(value, low, high) ({					\
	__auto_type _value = (value);					\
	__auto_type _low = (low);					\
	__auto_type _high = (high);					\
	_value > _high ? _high : _value < _low ? (__typeof__(_value))_low : _value; })
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)
#define clamp_val(value, low, high) clamp_t(__typeof__(value), value, low, high)
#define abs(value) ({ __auto_type _value = (value); _value < 0 ? -_value : _value; })
#define abs_diff(a, b) ({ __auto_type _x = (a); __auto_type _y = (b); _x > _y ? _x - _y : _y - _x; })
#define swap(a, b) do { __auto_type _swapped = (a); (a) = (b); (b) = _swapped; } while (0)
#define DIV_ROUND_UP(value, divisor) (((value) + (divisor) - 1) / (divisor))
#define DIV_ROUND_CLOSEST(value, divisor) (((value) + (divisor) / 2) / (divisor))
#define DIV_ROUND_UP_ULL(value, divisor) DIV_ROUND_UP((u64)(value), (u64)(divisor))
#define round_up(value, to) ((((value) - 1) | ((__typeof__(value))(to) - 1)) + 1)
#define round_down(value, to) ((value) & ~((__typeof__(value))(to) - 1))

/* Divides `value` in place; the result is the remainder. */
#define do_div(value, divisor) ({					\
	u32 _divisor = (divisor);					\
	u32 _rest = (u64)(value) % _divisor;				\
	(value) = (u64)(value) / _divisor;				\
	_rest; })
#define div64_long(value, divisor) ((s64)(value) / (long)(divisor))
#define div64_ul(value, divisor) ((u64)(value) / (unsigned long)(divisor))

static inline u64 div_u64(u64 value, u32 divisor) { return value / divisor; }
static inline s64 div_s64(s64 value, s32 divisor) { return value / divisor; }
static inline u64 div64_u64(u64 value, u64 divisor) { return value / divisor; }
static inline s64 div64_s64(s64 value, s64 divisor) { return value / divisor; }
static inline u64 div64_u64_rem(u64 value, u64 divisor, u64 *rest) { *rest = value % divisor; return value / divisor; }
static inline u64 div_u64_rem(u64 value, u32 divisor, u32 *rest) { *rest = (u32)(value % divisor); return value / divisor; }
static inline u64 mul_u32_u32(u32 a, u32 b) { return (u64)a * b; }
static inline u64 mul_u64_u32_shr(u64 a, u32 factor, unsigned int shift) { return (u64)(((unsigned __int128)a * factor) >> shift); }
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 divisor) { return (u64)((unsigned __int128)a * b / divisor); }

/* Position of the highest bit from one on, 0 if there is none; __fls and __ffs count from zero. */
static inline int fls(unsigned int value) { return value ? 32 - __builtin_clz(value) : 0; }
static inline int fls64(u64 value) { return value ? 64 - __builtin_clzll(value) : 0; }
static inline unsigned long __fls(unsigned long value) { return BITS_PER_LONG - 1 - __builtin_clzl(value); }
static inline unsigned long __ffs(unsigned long value) { return __builtin_ctzl(value); }
static inline unsigned int hweight32(u32 value) { return __builtin_popcount(value); }
#define ilog2(value) (fls64(value) - 1)
static inline bool is_power_of_2(unsigned long value) { return value && !(value & (value - 1)); }

/* Returns the largest integer whose square is at most `value`. */
static inline u32 int_sqrt64(u64 value)
{
	u64 root = 0;

	for (int bit = 31; bit >= 0; bit--) {
		u64 tried = root | 1ULL << bit;

		if (tried * tried <= value)
			root = tried;
	}
	return (u32)root;
}
static inline unsigned long int_sqrt(unsigned long value) { return int_sqrt64(value); }

#define GFP_KERNEL 0
#define GFP_ATOMIC 0
#define GFP_NOWAIT 0
#define __GFP_NOWARN 0
#define __GFP_ZERO 0
typedef unsigned int gfp_t;
void *longhaul_allocate(size_t count, size_t bytes);
void longhaul_free(const void *memory);
#define kmalloc(bytes, flags) longhaul_allocate(1, bytes)
#define kzalloc(bytes, flags) longhaul_allocate(1, bytes)
#define kcalloc(count, bytes, flags) longhaul_allocate(count, bytes)
#define kmalloc_array(count, bytes, flags) longhaul_allocate(count, bytes)
#define kfree(memory) longhaul_free(memory)

/* Messages to the log are discarded; arguments of printk are compiled. */
static inline __attribute__((format(printf, 1, 2))) void longhaul_no_log(const char *format, ...) { (void)format; }
#define printk(...) do { if (0) longhaul_no_log(__VA_ARGS__); } while (0)
#define pr_debug(format, ...) do { } while (0)
#define pr_info(format, ...) do { } while (0)
#define pr_warn(format, ...) do { } while (0)
#define pr_err(format, ...) do { } while (0)
#define pr_info_once(format, ...) do { } while (0)
#define pr_warn_once(format, ...) do { } while (0)
#define pr_err_once(format, ...) do { } while (0)
#define net_dbg_ratelimited(format, ...) do { } while (0)
#define net_info_ratelimited(format, ...) do { } while (0)
#define net_warn_ratelimited(format, ...) do { } while (0)
#define KERN_INFO
#define KERN_DEBUG
#define KERN_WARNING
#define KERN_ERR

/* Tables for BPF, unused. */
#define longhaul_btf_set(name) static const char name[1] __attribute__((unused));
#define BTF_SET_START(name) longhaul_btf_set(name)
#define BTF_SET_END(name)
#define BTF_SET8_START(name) longhaul_btf_set(name)
#define BTF_SET8_END(name)
#define BTF_KFUNCS_START(name) longhaul_btf_set(name)
#define BTF_KFUNCS_END(name)
#define BTF_ID(kind, name)
#define BTF_ID_FLAGS(kind, ...)
struct btf_kfunc_id_set { void *owner; const void *set; };
enum { BPF_PROG_TYPE_STRUCT_OPS };
#define register_btf_kfunc_id_set(kind, set) ((void)(set), 0)

#endif
