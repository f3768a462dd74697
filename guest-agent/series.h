/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_SERIES_H
#define LAB_GUEST_SERIES_H

/*
 * The sink of the collectors: a table of names that only grows, and the values of
 * the row being taken. Names that come again cost no allocation.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "common/strv.h"
#include "protocol/message.h"

struct series {
	struct lab_strv names;
	int64_t *now;  /* of the row being taken; MESSAGE_ABSENT: not seen in it */
	int64_t *last; /* newest value of each name that was sent */
	size_t cap_now, cap_last;
	size_t cursor;	 /* where the next name is expected */
	uint16_t *slots; /* of a hash table of the names: index + 1, 0: free; open addressing */
	size_t sent;	 /* names the host knows */
	bool full;	 /* MESSAGE_NAMES_MAX reached, names were dropped */
};

#define SERIES_INIT          \
	{                    \
		.cursor = 0, \
	}

void series_release(struct series *series);

/* Begins a row. */
void series_begin(struct series *series);
/*
 * Sets "PREFIX.NAME" in the row. The same name again in one row becomes "PREFIX.NAME#2",
 * so that two slab caches of one name both count.
 */
void series_put(struct series *series, const char *prefix, const char *name, int64_t value);
/* True and the value when the row has that name. */
bool series_get(const struct series *series, const char *name, int64_t *ret_value);

/* Ends the row: the names message for new names, or NULL, and the row's message as text. */
json_t *series_take_names(struct series *series);
void series_take_row(struct series *series, int64_t t_ns, enum message_mark mark,
		     struct lab_buf *text);

#endif
