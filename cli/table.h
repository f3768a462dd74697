/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_TABLE_H
#define LAB_CLI_TABLE_H

/* Rows of words that line up: columns are as wide as their widest cell. */

#include "common/buf.h"
#include "common/strv.h"

struct table {
	struct lab_strv *rows;
	size_t n, cap;
};

#define TABLE_INIT         \
	{                  \
		NULL, 0, 0 \
	}

/* Begins a row; cells are added with table_cell(). */
void table_row(struct table *table);
/* NULL and "" are shown as "-". */
void table_cell(struct table *table, const char *text);
void table_cellf(struct table *table, const char *fmt, ...) LAB_PRINTF(2, 3);
void table_format(const struct table *table, struct lab_buf *out);
void table_release(struct table *table);

static inline void lab_cleanup_table(struct table *table)
{
	table_release(table);
}

#endif
