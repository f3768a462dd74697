/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_WRAP_H
#define LAB_REPORT_WRAP_H

#include "common/buf.h"

/* No line of a text report is longer, so that it can be put into a mail. */
#define REPORT_COLUMNS 72

/* Appends `text` broken at blanks, all lines but the first indented by `indent`. */
void report_wrap(struct lab_buf *out, const char *text, int indent);
/* Appends `left`, then `right` flush with the last column, on a line of its own if it must. */
void report_flush(struct lab_buf *out, const char *left, const char *right);

/* Ends the line without blanks at its end. */
void report_end_line(struct lab_buf *out);

#endif
