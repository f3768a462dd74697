/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_HELLO_H
#define LAB_GUEST_HELLO_H

#include <jansson.h>

/* Who speaks, on which kernel, in which boot. What cannot be read is said as such. */
json_t *hello_make(const char *sysroot);

/* Version and build id of this program, "0.1.0+1f2e..."; caller frees. */
char *hello_agent_id(void);

#endif
