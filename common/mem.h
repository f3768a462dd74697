/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_MEM_H
#define LAB_COMMON_MEM_H

/*
 * Allocation that does not fail: out of memory aborts the process, since there is
 * no state of ours that is not safe to lose at any moment. Sizes that come from
 * outside must be capped before they get here.
 */

#include <stddef.h>

#include "common/cleanup.h"

void *lab_calloc(size_t n, size_t size);
void *lab_realloc(void *p, size_t n, size_t size);
char *lab_strdup(const char *s); /* NULL gives NULL */
char *lab_strndup(const char *s, size_t len);
void *lab_memdup(const void *p, size_t len); /* always one zero byte after the copy */
char *lab_asprintf(const char *fmt, ...) LAB_PRINTF(1, 2);

#define LAB_NEW(type) ((type *)lab_calloc(1, sizeof(type)))
#define LAB_NEW_ARRAY(type, n) ((type *)lab_calloc((n), sizeof(type)))

/* Makes room for one more element in array `a` with `n` used and `cap` allocated. */
#define LAB_GROW(a, n, cap)                                          \
	do {                                                         \
		if ((n) >= (cap)) {                                  \
			(cap) = (cap) ? (cap)*2 : 8;                 \
			(a) = lab_realloc((a), (cap), sizeof(*(a))); \
		}                                                    \
	} while (0)

#define LAB_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#endif
