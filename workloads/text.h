/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_WORKLOADS_TEXT_H
#define LAB_WORKLOADS_TEXT_H

/*
 * Reading what programs print. The bytes come from the guest: nothing about them
 * is sure, neither their ends nor that they are text.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/strv.h"

/* A line without its end. */
struct text_line {
	const char *s;
	size_t len;
	/* False for a last line that was cut: no number may be taken from it. */
	bool whole;
};

/* Takes the next line off *text; false at the end. A '\r' before '\n' is not part of it. */
bool text_next_line(const char **text, size_t *len, struct text_line *ret_line);
bool text_line_starts(const struct text_line *line, const char *prefix);
/* Only blanks, or nothing. */
bool text_line_blank(const struct text_line *line);

/*
 * "12", "0.141": digits, perhaps a point and digits, nothing else. Rejected: nan,
 * inf, signs, exponents, decimal commas, thousands separators, zero. `what` names
 * the number in the message.
 */
int text_positive(const char *s, size_t len, const char *what, double *ret_value,
		  struct lab_error *err) LAB_MUST_CHECK;

/* At most `size` - 1 printable bytes of it for a message, '?' for others; returns buf. */
const char *text_excerpt(const char *s, size_t len, char *buf, size_t size);

/* Notes kept of one run. */
#define TEXT_NOTES_MAX 20
/* Keeps a line as a note, as an excerpt; silently nothing once there are enough. */
void text_note(struct lab_strv *notes, const struct text_line *line);

#endif
