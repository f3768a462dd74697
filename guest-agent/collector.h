/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_COLLECTOR_H
#define LAB_GUEST_COLLECTOR_H

/*
 * A collector turns one kind of /proc file into series. Each is a file of its own,
 * collect_NAME.c, that holds its parsers and its row; collector.c lists them.
 *
 * Parsers are pure: text in, series_put out. A key they do not know is kept under
 * its own name, a line that makes no sense is skipped, and a value that is not
 * there is not put: absent, never 0.
 */

#include <stddef.h>

#include "guest-agent/series.h"

struct collector_file {
	const char *path; /* below /proc */
	const char *what; /* prefix of its names, and its name when it is unavailable */
	void (*parse)(const char *text, const char *what, struct series *series);
};

struct collector {
	const char *name; /* as in a job's collect.series */
	const struct collector_file *files;
	size_t n_files;
};

extern const struct collector collector_meminfo, collector_vmstat, collector_slabinfo,
	collector_psi, collector_stat, collector_loadavg;

const struct collector *collector_find(const char *name);

/* Called for a file that cannot be read (or is empty), with the reason. */
typedef void collector_missing_fn(void *ctx, const char *what, const char *why);

/* Reads the collector's files below `sysroot` into the row. */
void collector_read(const struct collector *collector, const char *sysroot, struct series *series,
		    collector_missing_fn *missing, void *ctx);

/*
 * For parsers: cuts the next line off *text into `line` (longer lines are cut short).
 * Returns false at the end.
 */
bool collector_line(const char **text, char *line, size_t size);
/*
 * Copies the next word of *text into `word` and moves on past it; a longer word is cut short.
 * Returns false when there is none. Cheaper than sscanf: the workload pays for each row.
 */
bool collector_word(const char **text, char *word, size_t size);
/* A non-negative integer that is the whole of `word`; values over INT64_MAX do not count. */
bool collector_number(const char *word, int64_t *ret_value);
/* "12.34" as 1234. */
bool collector_hundredths(const char *word, int64_t *ret_value);

#endif
