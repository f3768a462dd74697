/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_WORKLOADS_METRIC_H
#define LAB_WORKLOADS_METRIC_H

/*
 * What a number means. Drivers declare metrics; a campaign stores the list it
 * measures as JSON, so that reports need no driver to print an old campaign.
 */

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "common/err.h"

/* How the values that one boot yields become the one value that counts. */
enum metric_reducer {
	METRIC_MEAN,
	METRIC_MAX,
	METRIC_MIN,
	METRIC_LAST,
	METRIC_DELTA, /* last minus first: counters */
};

struct metric {
	char *name;
	char direction; /* '+' more is good, '-' less is good, '0' neither */
	char *unit;	/* "s", "kB", "1/s", ... */
	/* "time" (depends on how fast the machine is: durations and rates), "memory", "count". */
	char *kind;
	enum metric_reducer reducer;
	/* False when the patchset may change the meaning: printed, never judged. */
	bool comparable;
	/* What a driver yields times this is in `unit`; not stored: 1 when read again. */
	double scale;
	/* Sampled from a time series (many values a boot), not printed by a program. */
	bool sampled;
};

struct metric_list {
	struct metric *items;
	size_t n, cap;
};

/* Adds an empty comparable METRIC_MEAN metric with direction '0' and copies of the words. */
struct metric *metric_add(struct metric_list *list, const char *name, const char *unit,
			  const char *kind);
const struct metric *metric_find(const struct metric_list *list, const char *name);
void metric_list_release(struct metric_list *list);

/* True when the value follows the machine's speed, so that emulated ones are marked. */
bool metric_is_timed(const struct metric *metric);
const char *metric_reducer_name(enum metric_reducer reducer);

/*
 * Makes a time of a clock that counts instructions, one a nanosecond, out of one in
 * seconds or a part of them, and "instructions" out of its unit; out of a rate by the second
 * one by 10^9 instructions. Other metrics stay as they are.
 */
void metric_count_instructions(struct metric *metric);

/* One value from n > 0; -1 only for n == 0, with err naming the metric. */
int metric_reduce(const struct metric *metric, const double *values, size_t n, double *ret_value,
		  struct lab_error *err) LAB_MUST_CHECK;

/* An array of {name, direction, unit, kind, reducer, comparable, sampled}; new reference. */
json_t *metric_list_to_json(const struct metric_list *list);
/* Strict reader of the same; ret_list is filled on success only. */
int metric_list_from_json(const json_t *json, struct metric_list *ret_list,
			  struct lab_error *err) LAB_MUST_CHECK;

static inline void lab_cleanup_metric_list(struct metric_list *list)
{
	metric_list_release(list);
}

#endif
