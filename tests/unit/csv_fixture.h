/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_TESTS_CSV_FIXTURE_H
#define LAB_TESTS_CSV_FIXTURE_H

/* Reads the published tables under tests/data/reference/. Include after cmocka.h. */

#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"

struct csv {
	struct lab_strv *rows; /* without the header */
	size_t n;
	size_t cap;
};

/* A row's fields; quoted ones hold commas but no quotes. Empty fields are kept. */
static inline void csv_split(const char *line, struct lab_strv *fields)
{
	for (;;) {
		const char *start = line + (*line == '"');
		size_t len = strcspn(start, *line == '"' ? "\"" : ",");
		LAB_CLEANUP(free) char *field = lab_strndup(start, len);

		lab_strv_add(fields, field);
		line = start + len;
		line += *line == '"';
		if (!*line)
			return;
		line++;
	}
}

static inline void csv_load(const char *name, struct csv *csv)
{
	LAB_CLEANUP(free) char *path = lab_path_join("tests/data/reference", name);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	struct lab_error err = {0};

	if (lab_read_file(path, 1 << 20, &text, &err) < 0)
		fail_msg("%s", err.text);
	lab_strv_split(&lines, text.data, "\r\n");
	for (size_t i = 1; i < lines.n; i++) {
		LAB_GROW(csv->rows, csv->n, csv->cap);
		csv->rows[csv->n] = (struct lab_strv)LAB_STRV_INIT;
		csv_split(lines.items[i], &csv->rows[csv->n++]);
	}
}

static inline const char *csv_at(const struct csv *csv, size_t row, size_t field)
{
	assert_true(row < csv->n);
	assert_true(field < csv->rows[row].n);
	return csv->rows[row].items[field];
}

static inline double csv_number(const char *text)
{
	struct lab_error err = {0};
	double value = 0;

	/* "+7.42%" is a number here, too. */
	LAB_CLEANUP(free) char *plain = lab_strndup(text, strcspn(text, "%"));

	if (lab_parse_double(plain, &value, &err) < 0)
		fail_msg("%s", err.text);
	return value;
}

static inline void lab_cleanup_csv(struct csv *csv)
{
	for (size_t i = 0; i < csv->n; i++)
		lab_strv_release(&csv->rows[i]);
	free(csv->rows);
}

#endif
