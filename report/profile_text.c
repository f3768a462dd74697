/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two profiles side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "report/number.h"
#include "report/profile.h"
#include "report/wrap.h"

static double size_of(const struct profile_line *line)
{
	return fabs(line->b - line->a);
}

static int by_size(const void *a, const void *b)
{
	double x = size_of(a), y = size_of(b);

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(((const struct profile_line *)a)->name,
		      ((const struct profile_line *)b)->name);
}

struct profile_line *profile_lines(const struct profile *a, const struct profile *b, size_t *ret_n)
{
	size_t n_b = b ? b->n : 0, i = 0, k = 0, n = 0;
	struct profile_line *lines = LAB_NEW_ARRAY(struct profile_line, a->n + n_b + 1);

	while (i < a->n || k < n_b) {
		int order = i == a->n  ? 1
			    : k == n_b ? -1
				       : strcmp(a->rows[i].name, b->rows[k].name);
		struct profile_line *line = &lines[n++];

		if (order <= 0) {
			line->name = a->rows[i].name;
			line->a = a->rows[i++].count;
		}
		if (order >= 0) {
			line->name = b->rows[k].name;
			line->b = b->rows[k++].count;
		}
	}
	qsort(lines, n, sizeof(*lines), by_size);
	*ret_n = n;
	return lines;
}

/* "of" is what all of A executed: the last column says how much of that the difference is. */
struct columns {
	bool two;
	enum profile_by by;
	double of;
	struct lab_buf *out;
};

static const char *count_text(double value, char text[NUMBER_SIZE])
{
	return isnan(value) ? "not known" : number_fixed(value, 0, text);
}

/* "+0.31%" of all that A executed. */
static const char *part_text(const struct columns *c, double value, char text[NUMBER_SIZE])
{
	char number[NUMBER_SIZE];

	if (isnan(value) || !(c->of > 0))
		return "-";
	if (c->two)
		number_signed(value / c->of * 100, 2, number);
	else
		number_fixed(value / c->of * 100, 2, number);
	snprintf(text, NUMBER_SIZE, "%.*s%%", NUMBER_SIZE - 2, number);
	return text;
}

static void add_line(const struct columns *c, const char *name, double a, double b)
{
	LAB_CLEANUP(free) char *right = NULL;
	char x[NUMBER_SIZE], y[NUMBER_SIZE], diff[NUMBER_SIZE], part[NUMBER_SIZE];

	if (c->two)
		right = lab_asprintf("%11s %11s %11s %8s", count_text(a, x), count_text(b, y),
				     isnan(a - b) ? "-" : number_signed(b - a, 0, diff),
				     part_text(c, b - a, part));
	else
		right = lab_asprintf("%11s %8s", count_text(a, x), part_text(c, a, part));
	report_flush(c->out, name, right);
}

static void add_head(const struct columns *c, const char *name_a, const char *name_b)
{
	LAB_CLEANUP(free)
	char *right =
		c->two ? lab_asprintf("%11s %11s %11s %8s", name_a, name_b, "DIFFERENCE", "OF ALL")
		       : lab_asprintf("%11s %8s", name_a, "OF ALL");

	report_flush(c->out, c->by == PROFILE_BY_SUBSYSTEM ? "SUBSYSTEM" : "FUNCTION", right);
}

static void add_sums(const struct columns *c, const struct profile *a, const struct profile *b)
{
	const struct profile none = {0};

	if (!b)
		b = &none;
	add_line(c, "all of them", a->counted, b->counted);
	add_line(c, "not explained", a->executed - a->counted, b->executed - b->counted);
	add_line(c, "executed", a->executed, b->executed);
	add_line(c, "idle, ns", a->guest_ns - a->executed, b->guest_ns - b->executed);
}

void profile_text(const struct profile *a, const char *name_a, const struct profile *b,
		  const char *name_b, enum profile_by by, size_t top, struct lab_buf *out)
{
	const struct columns c = {b != NULL, by, isnan(a->executed) ? a->counted : a->executed,
				  out};
	size_t n;
	LAB_CLEANUP(free) struct profile_line *lines = profile_lines(a, b, &n);
	double rest_a = 0, rest_b = 0;

	add_head(&c, name_a, name_b);
	for (size_t i = 0; i < n; i++) {
		if (!top || i < top) {
			add_line(&c, lines[i].name, lines[i].a, lines[i].b);
		} else {
			rest_a += lines[i].a;
			rest_b += lines[i].b;
		}
	}
	if (top && n > top) {
		LAB_CLEANUP(free) char *name = lab_asprintf("%zu others", n - top);

		add_line(&c, name, rest_a, rest_b);
	}
	lab_buf_addc(out, '\n');
	add_sums(&c, a, b);
}
