/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/table.h"

#include <stdarg.h>
#include <string.h>

#include "common/mem.h"

#define GAP 2

void table_row(struct table *table)
{
	LAB_GROW(table->rows, table->n, table->cap);
	table->rows[table->n++] = (struct lab_strv)LAB_STRV_INIT;
}

void table_cell(struct table *table, const char *text)
{
	lab_strv_add(&table->rows[table->n - 1], text && text[0] ? text : "-");
}

void table_cellf(struct table *table, const char *fmt, ...)
{
	LAB_CLEANUP(free) char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		abort();
	va_end(args);
	table_cell(table, text);
}

/* Columns of a UTF-8 string whose characters are all one column wide. */
static size_t columns_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t width = 0;

	for (size_t r = 0; r < table->n; r++) {
		size_t n = column < table->rows[r].n ? columns_of(table->rows[r].items[column]) : 0;

		width = n > width ? n : width;
	}
	return width;
}

void table_format(const struct table *table, struct lab_buf *out)
{
	size_t columns = 0;
	LAB_CLEANUP(free) size_t *widths = NULL;

	for (size_t r = 0; r < table->n; r++)
		columns = table->rows[r].n > columns ? table->rows[r].n : columns;
	widths = LAB_NEW_ARRAY(size_t, columns + 1);
	for (size_t c = 0; c < columns; c++)
		widths[c] = column_width(table, c);
	for (size_t r = 0; r < table->n; r++) {
		const struct lab_strv *row = &table->rows[r];

		for (size_t c = 0; c < row->n; c++) {
			lab_buf_adds(out, row->items[c]);
			if (c + 1 < row->n)
				lab_buf_addf(out, "%*s",
					     (int)(widths[c] - columns_of(row->items[c]) + GAP),
					     "");
		}
		lab_buf_addc(out, '\n');
	}
}

void table_release(struct table *table)
{
	for (size_t r = 0; r < table->n; r++)
		lab_strv_release(&table->rows[r]);
	free(table->rows);
	*table = (struct table)TABLE_INIT;
}
