/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/series.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"

void series_release(struct series *series)
{
	lab_strv_release(&series->names);
	free(series->now);
	free(series->last);
	free(series->slots);
	*series = (struct series)SERIES_INIT;
}

void series_begin(struct series *series)
{
	for (size_t i = 0; i < series->names.n; i++)
		series->now[i] = MESSAGE_ABSENT;
	series->cursor = 0;
}

/*
 * True when the name expected next is the one. Rows nearly always name the same things in the
 * same order, and a row is taken while the workload runs: nothing is built or searched for it.
 */
static bool is_expected(const struct series *series, const char *prefix, const char *name)
{
	const char *have;
	size_t len = strlen(prefix);

	if (series->cursor >= series->names.n || series->now[series->cursor] != MESSAGE_ABSENT)
		return false;
	have = series->names.items[series->cursor];
	return strncmp(have, prefix, len) == 0 && have[len] == '.' &&
	       strcmp(have + len + 1, name) == 0;
}

enum { SLOTS = 4 * MESSAGE_NAMES_MAX };

/* The slot that holds a name, or the free one where it belongs (FNV-1a). */
static uint16_t *slot_of(const struct series *series, const char *name)
{
	uint32_t hash = 2166136261u;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	for (;; hash++) {
		uint16_t *slot = &series->slots[hash % SLOTS];

		if (!*slot || strcmp(series->names.items[*slot - 1], name) == 0)
			return slot;
	}
}

static ssize_t find(const struct series *series, const char *name)
{
	return series->slots ? (ssize_t)*slot_of(series, name) - 1 : -1;
}

static ssize_t add(struct series *series, const char *name)
{
	size_t at = series->names.n;

	if (at >= MESSAGE_NAMES_MAX) {
		series->full = true;
		return -1;
	}
	if (!series->slots)
		series->slots = LAB_NEW_ARRAY(uint16_t, SLOTS);
	LAB_GROW(series->now, at, series->cap_now);
	LAB_GROW(series->last, at, series->cap_last);
	series->now[at] = MESSAGE_ABSENT;
	series->last[at] = 0;
	lab_strv_add(&series->names, name);
	*slot_of(series, name) = (uint16_t)(at + 1);
	return (ssize_t)at;
}

void series_put(struct series *series, const char *prefix, const char *name, int64_t value)
{
	char full[128];
	size_t len;
	ssize_t at;

	if (is_expected(series, prefix, name)) {
		series->now[series->cursor++] = value;
		return;
	}
	snprintf(full, sizeof(full) - 16, "%s.%s", prefix, name);
	len = strlen(full);
	for (int again = 2;; again++) {
		at = find(series, full);
		if (at < 0)
			at = add(series, full);
		if (at < 0)
			return;
		if (series->now[at] == MESSAGE_ABSENT)
			break;
		snprintf(full + len, sizeof(full) - len, "#%d", again);
	}
	series->now[at] = value;
	series->cursor = (size_t)at + 1;
}

bool series_get(const struct series *series, const char *name, int64_t *ret_value)
{
	ssize_t at = find(series, name);

	if (at < 0 || series->now[at] == MESSAGE_ABSENT)
		return false;
	*ret_value = series->now[at];
	return true;
}

json_t *series_take_names(struct series *series)
{
	size_t first = series->sent;

	if (first == series->names.n)
		return NULL;
	series->sent = series->names.n;
	return message_make_names((int64_t)first, (const char *const *)series->names.items + first,
				  series->names.n - first);
}

void series_take_row(struct series *series, int64_t t_ns, enum message_mark mark,
		     struct lab_buf *text)
{
	LAB_CLEANUP(free) int64_t *deltas = LAB_NEW_ARRAY(int64_t, series->names.n);

	for (size_t i = 0; i < series->names.n; i++) {
		int64_t now = series->now[i], delta;

		deltas[i] = MESSAGE_ABSENT;
		/* A step that does not fit is left out rather than wrapped. */
		if (now == MESSAGE_ABSENT || __builtin_sub_overflow(now, series->last[i], &delta) ||
		    delta == MESSAGE_ABSENT)
			continue;
		deltas[i] = delta;
		series->last[i] = now;
	}
	message_series_text(t_ns, mark, deltas, series->names.n, text);
}
