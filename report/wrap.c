/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wrap.h"

#include <string.h>

void report_wrap(struct lab_buf *out, const char *text, int indent)
{
	size_t column = 0;

	while (*text) {
		size_t blanks = strspn(text, " ");
		size_t word = strcspn(text + blanks, " ");

		if (!word)
			break;
		if (column && column + blanks + word > REPORT_COLUMNS) {
			lab_buf_addf(out, "\n%*s", indent, "");
			column = (size_t)indent;
		} else {
			lab_buf_add(out, text, blanks);
			column += blanks;
		}
		lab_buf_add(out, text + blanks, word);
		column += word;
		text += blanks + word;
	}
	lab_buf_addc(out, '\n');
}

void report_flush(struct lab_buf *out, const char *left, const char *right)
{
	size_t used = strlen(left);
	size_t width = strlen(right);

	lab_buf_adds(out, left);
	if (used && used + 2 + width > REPORT_COLUMNS) {
		lab_buf_addc(out, '\n');
		used = 0;
	}
	lab_buf_addf(out, "%*s\n", (int)(REPORT_COLUMNS - used), right);
}

void report_end_line(struct lab_buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	lab_buf_addc(out, '\n');
}
