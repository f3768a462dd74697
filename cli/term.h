/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_TERM_H
#define LAB_CLI_TERM_H

/*
 * Everything that labctl says goes through one object: results to standard output,
 * talk to standard error, and one progress line that steps aside for both.
 *
 * On a terminal the progress line is redrawn in place a few times a second. Where
 * standard error is not a terminal, progress is a plain line when a phase begins,
 * at every tenth of it, and every ten seconds, so that a log shows that it lives.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

struct term;

/* `out` and `talk` are borrowed; `is_tty` tells how progress is shown on `talk`. */
struct term *term_new(FILE *out, FILE *talk, bool is_tty, unsigned columns);
void term_free(struct term *term);
LAB_DEFINE_CLEANUP(term, struct term, term_free)

/* A piece of the result. A failed write is remembered for term_finish(). */
void term_print(struct term *term, const char *text);
void term_printf(struct term *term, const char *fmt, ...) LAB_PRINTF(2, 3);
/* One line of talk, without its end. */
void term_say(struct term *term, const char *fmt, ...) LAB_PRINTF(2, 3);
/* "labctl: text"; further lines of the text are indented under it. */
void term_error(struct term *term, const char *text);

/* What a progress line shows. */
struct term_progress {
	const char *what; /* "B", "image", "14/60 B over": what is being worked on */
	uint64_t done;
	uint64_t total;	  /* 0: unknown, no bar and no percent */
	const char *unit; /* of the count: "objects", "bytes"; NULL: a bare count; "": no count */
	const char *text; /* current file, phase; may be NULL */
	uint64_t left_ms; /* estimated time left, 0: unknown */
};

/* Shows progress; cheap when called often. A change of `what` begins a phase. */
void term_progress(struct term *term, const struct term_progress *progress);
/* Ends the progress line, if there is one. */
void term_progress_end(struct term *term);

/* Flushes and closes the result. -1 when some of it was not written. */
int term_finish(struct term *term, struct lab_error *err) LAB_MUST_CHECK;

/* The progress line without its end, fitted into `columns`: pure, for tests. Caller frees. */
char *term_progress_line(const struct term_progress *progress, uint64_t elapsed_ms,
			 unsigned columns);

#endif
