/* Functions that a module runs at load, and its parameters. */
#ifndef LONGHAUL_MODULE_H
#define LONGHAUL_MODULE_H

#include "interface.h"
#include "types.h"

struct module;
#define THIS_MODULE ((struct module *)0)
#define MODULE_LICENSE(text)
#define MODULE_AUTHOR(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_VERSION(text)
#define MODULE_ALIAS(text)
#define MODULE_INFO(tag, text)
#define MODULE_SOFTDEP(text)
#define MODULE_PARM_DESC(name, text)
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define try_module_get(module) 1
#define module_put(module) do { } while (0)

struct longhaul_init {
	int (*run)(void);
	struct longhaul_init *next;
};
void longhaul_add_init(struct longhaul_init *);
void longhaul_add_parameter(struct longhaul_parameter *);

#define longhaul_at_load(run_it)					\
	static struct longhaul_init longhaul_init_ ## run_it = { run_it, NULL };	\
	static __attribute__((constructor)) void longhaul_add_ ## run_it(void)	\
	{ longhaul_add_init(&longhaul_init_ ## run_it); }
#define module_init(run_it) longhaul_at_load(run_it)
#define late_initcall(run_it) longhaul_at_load(run_it)
/* Modules are not unloaded. */
#define module_exit(run_it)						\
	static __attribute__((unused)) void (*longhaul_exit_ ## run_it)(void) = run_it;

/* Types of parameters by name. A parameter of an unknown type does not compile. */
#define longhaul_type_of_bool bool
#define longhaul_type_of_byte u8
#define longhaul_type_of_short short
#define longhaul_type_of_ushort unsigned short
#define longhaul_type_of_int int
#define longhaul_type_of_uint unsigned int
#define longhaul_type_of_long long
#define longhaul_type_of_ulong unsigned long
#define longhaul_type_of_ullong unsigned long long
#define longhaul_type_of_charp char *

/* The type is pasted and quoted here, before the macro `bool` is expanded. */
#define module_param_named(called, variable, type, mode)		\
	longhaul_a_parameter(called, variable, #type, longhaul_type_of_ ## type)
#define module_param(name, type, mode)					\
	longhaul_a_parameter(name, name, #type, longhaul_type_of_ ## type)
#define longhaul_a_parameter(called, variable, type_name, type)		\
	_Static_assert(sizeof(type) == sizeof(variable),		\
		       "module_param: " #called " is not of type " type_name);	\
	static struct longhaul_parameter longhaul_parameter_ ## called =	\
		{ #called, type_name, sizeof(variable), &(variable), NULL, NULL };	\
	static __attribute__((constructor)) void longhaul_add_parameter_ ## called(void)	\
	{ longhaul_add_parameter(&longhaul_parameter_ ## called); }

struct kernel_param;
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *text, const struct kernel_param *parameter);
	int (*get)(char *text, const struct kernel_param *parameter);
	void (*free)(void *memory);
};
struct kernel_param {
	const char *name;
	const struct kernel_param_ops *ops;
	void *arg;
};
#define module_param_cb(called, operations, argument, mode)		\
	static const struct kernel_param longhaul_kernel_param_ ## called =	\
		{ #called, operations, argument };			\
	static int longhaul_set_ ## called(const char *text)		\
	{								\
		const struct kernel_param *parameter = &longhaul_kernel_param_ ## called;	\
		return parameter->ops->set(text, parameter);		\
	}								\
	static struct longhaul_parameter longhaul_parameter_ ## called =	\
		{ #called, sizeof(*(argument)) == 1 ? "byte" : "uint", sizeof(*(argument)),	\
		  argument, longhaul_set_ ## called, NULL };		\
	static __attribute__((constructor)) void longhaul_add_parameter_ ## called(void)	\
	{ longhaul_add_parameter(&longhaul_parameter_ ## called); }

int param_set_int(const char *text, const struct kernel_param *parameter);
int param_set_uint(const char *text, const struct kernel_param *parameter);
int param_set_uint_minmax(const char *text, const struct kernel_param *parameter, unsigned int min, unsigned int max);
int param_get_int(char *text, const struct kernel_param *parameter);
int param_get_uint(char *text, const struct kernel_param *parameter);

#endif
