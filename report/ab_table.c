/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/ab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "report/number.h"
#include "report/wrap.h"

enum column { LABEL, COUNT, MIN, MAX, MEAN, MEDIAN, STDDEV, DIRECTION, COLUMNS };

static const char *const names[COLUMNS] = {"LABEL", "COUNT",  "MIN",	"MAX",
					   "MEAN",  "MEDIAN", "STDDEV", "DIRECTION"};

struct row {
	char *cells[COLUMNS];
};

struct ab_table {
	struct row *rows;
	size_t n;
	size_t cap;
};

struct ab_table *ab_table_new(void)
{
	return LAB_NEW(struct ab_table);
}

void ab_table_free(struct ab_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n; i++) {
		for (size_t c = 0; c < COLUMNS; c++)
			free(table->rows[i].cells[c]);
	}
	free(table->rows);
	free(table);
}

static struct row *add_row(struct ab_table *table, const char *label)
{
	struct row *row;

	LAB_GROW(table->rows, table->n, table->cap);
	row = &table->rows[table->n++];
	*row = (struct row){{lab_strdup(label)}};
	for (size_t c = LABEL + 1; c < COLUMNS; c++)
		row->cells[c] = lab_strdup("");
	return row;
}

static void set(struct row *row, enum column column, const char *text)
{
	free(row->cells[column]);
	row->cells[column] = lab_strdup(text);
}

void ab_table_title(struct ab_table *table, const char *label)
{
	add_row(table, label);
}

/* The columns that are numbers, in table order. */
static void numbers_of(const struct stats_summary *s, double values[STDDEV - MIN + 1])
{
	values[0] = s->min;
	values[1] = s->max;
	values[2] = s->mean;
	values[3] = s->median;
	/* The spread of one value is not known; these tables print it as none. */
	values[4] = s->n == 1 ? 0 : s->sd;
}

void ab_table_arm(struct ab_table *table, const char *label, const struct stats_summary *s,
		  const char *instead)
{
	struct row *row = add_row(table, label);
	double values[STDDEV - MIN + 1];
	char text[NUMBER_SIZE];

	numbers_of(s, values);
	snprintf(text, sizeof(text), "%zu", s->n);
	set(row, COUNT, text);
	for (size_t i = 0; i < LAB_COUNT(values); i++)
		set(row, MIN + i, number_ab(values[i], text));
	if (!s->n)
		set(row, MEAN, instead);
}

double ab_mean_change(const struct stats_summary *a, const struct stats_summary *b)
{
	if (a->mean == b->mean)
		return 0;
	return fabs((b->mean - a->mean) / a->mean) * 100;
}

bool ab_regressed(const struct stats_summary *a, const struct stats_summary *b, char direction,
		  double threshold)
{
	bool worse = direction == '+' ? b->mean < a->mean : b->mean > a->mean;

	return direction != '0' && a->n && b->n && worse && ab_mean_change(a, b) > threshold;
}

const char *ab_direction(char direction)
{
	switch (direction) {
	case '+':
		return "+ is good";
	case '-':
		return "- is good";
	default:
		return "<not defined>";
	}
}

void ab_table_change(struct ab_table *table, const struct stats_summary *a,
		     const struct stats_summary *b, char direction, double threshold)
{
	struct row *row =
		add_row(table, ab_regressed(a, b, direction, threshold) ? AB_REGRESSED : "");
	double from[STDDEV - MIN + 1];
	double to[STDDEV - MIN + 1];
	char text[NUMBER_SIZE];

	numbers_of(a, from);
	numbers_of(b, to);
	for (size_t i = 0; i < LAB_COUNT(from); i++)
		set(row, MIN + i, number_ab_change(from[i], to[i], text));
	set(row, DIRECTION, ab_direction(direction));
}

static void widths_of(const struct ab_table *table, size_t widths[COLUMNS])
{
	for (size_t c = 0; c < COLUMNS; c++) {
		widths[c] = strlen(names[c]);
		for (size_t i = 0; i < table->n; i++) {
			if (strlen(table->rows[i].cells[c]) > widths[c])
				widths[c] = strlen(table->rows[i].cells[c]);
		}
	}
}

static void add_line(const char *const *cells, const size_t *widths, struct lab_buf *out)
{
	for (size_t c = 0; c < COLUMNS; c++) {
		int width = (int)widths[c];

		if (c)
			lab_buf_adds(out, " | ");
		/* Words to the left, numbers to the right; nothing behind the last one. */
		if (c == DIRECTION)
			lab_buf_adds(out, cells[c]);
		else
			lab_buf_addf(out, c == LABEL ? "%-*s" : "%*s", width, cells[c]);
	}
	report_end_line(out);
}

static void add_rule(const size_t *widths, struct lab_buf *out)
{
	for (size_t c = 0; c < COLUMNS; c++) {
		if (c)
			lab_buf_adds(out, "-+-");
		for (size_t i = 0; i < widths[c]; i++)
			lab_buf_addc(out, '-');
	}
	lab_buf_addc(out, '\n');
}

void ab_table_render(const struct ab_table *table, struct lab_buf *out)
{
	size_t widths[COLUMNS];

	widths_of(table, widths);
	add_line(names, widths, out);
	add_rule(widths, out);
	for (size_t i = 0; i < table->n; i++)
		add_line((const char *const *)table->rows[i].cells, widths, out);
}
