/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_STRV_H
#define LAB_COMMON_STRV_H

/* A growable list of owned strings, always usable as a NULL-terminated argv. */

#include <stdbool.h>
#include <stddef.h>

#include "common/cleanup.h"

struct lab_strv {
	char **items; /* NULL only while empty and never added to */
	size_t n;
	size_t cap;
};

#define LAB_STRV_INIT      \
	{                  \
		NULL, 0, 0 \
	}

void lab_strv_add(struct lab_strv *v, const char *s);
void lab_strv_addf(struct lab_strv *v, const char *fmt, ...) LAB_PRINTF(2, 3);
/* Adds every string of a NULL-terminated list. */
void lab_strv_add_all(struct lab_strv *v, const char *const *list);
/* Splits s at the characters of `seps`; empty fields are dropped. */
void lab_strv_split(struct lab_strv *v, const char *s, const char *seps);
bool lab_strv_has(const struct lab_strv *v, const char *s);
void lab_strv_sort(struct lab_strv *v);				/* byte order */
char *lab_strv_join(const struct lab_strv *v, const char *sep); /* caller frees */
void lab_strv_release(struct lab_strv *v);

static inline void lab_cleanup_strv(struct lab_strv *v)
{
	lab_strv_release(v);
}

/* True when s begins with `prefix`. */
bool lab_starts_with(const char *s, const char *prefix);
bool lab_ends_with(const char *s, const char *suffix);

#endif
