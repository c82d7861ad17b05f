/* Included before every file of a module, in place of the kernel's headers. */
#ifndef LONGHAUL_KERNEL_H
#define LONGHAUL_KERNEL_H

#ifndef LINUX_VERSION_CODE
#define KERNEL_VERSION(major, minor, patch) (((major) << 16) + ((minor) << 8) + (patch))
#ifdef LONGHAUL_CONG_CONTROL_TAKES_FLAG
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 18, 0)
#else
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 1, 0)
#endif
#endif

#include "tcp.h"

#endif
