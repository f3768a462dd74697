/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_WORKLOADS_DRIVER_H
#define LAB_WORKLOADS_DRIVER_H

/*
 * The host side of a workload: which programs run in the guest, which options an
 * experiment may set, and what their output means. Adding a workload is one file
 * with one `struct workload` and one row in driver.c.
 *
 * Options travel as a JSON object that workload_options_complete() has checked and
 * filled with defaults: integers for INT, SIZE (bytes) and DURATION (ms), strings
 * for STRING, booleans, arrays of strings for STRINGS.
 */

#include <stdint.h>

#include <jansson.h>

#include "common/err.h"
#include "common/strv.h"
#include "protocol/job.h"
#include "protocol/record.h"
#include "store/sample.h"
#include "workloads/metric.h"

enum workload_option_type {
	WORKLOAD_INT,
	WORKLOAD_SIZE,
	WORKLOAD_DURATION,
	WORKLOAD_STRING,
	WORKLOAD_STRINGS,
	WORKLOAD_BOOL,
};

struct workload_option {
	const char *name;
	enum workload_option_type type;
	uint64_t min, max; /* INT, SIZE, DURATION; max 0: none */
	/* Default as it would be written in YAML (words between blanks); "": may be left out; NULL: required. */
	const char *value;
	const char *const *words; /* STRING, STRINGS: the words allowed, NULL-terminated; or NULL */
	const char *help;
};

/* What parse() reads: the record of the run and the phase whose steps were ours. */
struct workload_input {
	const struct record *record;
	const char *phase;
	const json_t *options;
};

struct workload {
	const char *name;
	const char *help;
	const struct workload_option *options; /* ended by a NULL name */
	/* Programs that the image must hold, for messages; NULL-terminated, or NULL. */
	const char *const *needs;
	/* Appends this workload's steps to the phase. */
	int (*steps)(const json_t *options, struct job_phase *phase, struct lab_error *err);
	/* Appends the metrics that parse() yields for these options. */
	void (*metrics)(const json_t *options, struct metric_list *list);
	/*
	 * Appends the values; -1 means that the workload did not do its work and err says
	 * why (the run ends as `workload`). What it passed over goes to notes, a line each.
	 */
	int (*parse)(const struct workload_input *in, struct sample *sample, struct lab_strv *notes,
		     struct lab_error *err);
};

const struct workload *workload_find(const char *name); /* or NULL */
/* The i-th driver in name order, NULL past the last. */
const struct workload *workload_at(size_t i);
/* The known name most like `name`, for messages; NULL when none is near. */
const char *workload_nearest(const char *name);

const struct workload_option *workload_option_find(const struct workload *workload,
						   const char *name); /* or NULL */
/*
 * Checks one option's value in the types above. The message names the option only;
 * callers put the place in front.
 */
int workload_option_check(const struct workload_option *option, const json_t *value,
			  struct lab_error *err) LAB_MUST_CHECK;
/* The value that `text` stands for ("64 KiB"), checked; a list of one for STRINGS. */
int workload_option_read(const struct workload_option *option, const char *text, json_t **ret_value,
			 struct lab_error *err) LAB_MUST_CHECK;
/* Sets err to "no such option" with the nearest one; returns -1. */
int workload_option_unknown(const struct workload *workload, const char *name,
			    struct lab_error *err);
/* A copy of `given` (an object or NULL) with the defaults filled in: unknown, wrong or missing options are errors. */
int workload_options_complete(const struct workload *workload, const json_t *given,
			      json_t **ret_options, struct lab_error *err) LAB_MUST_CHECK;

#endif
