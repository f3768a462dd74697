/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/values.h"

#include <string.h>

#include "common/buf.h"
#include "common/mem.h"

/*
 * A blob holds 8 bytes per value, little-endian: the IEEE 754 bits of a double, or a
 * two's complement integer. lab.db can be carried to any machine.
 */
static void add_u64(struct lab_buf *buf, uint64_t value)
{
	char bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(value >> (8 * i));
	lab_buf_add(buf, bytes, sizeof(bytes));
}

static uint64_t get_u64(const unsigned char *bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < 8; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

static void encode_doubles(const double *values, size_t n, struct lab_buf *buf)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;

		memcpy(&bits, &values[i], sizeof(bits));
		add_u64(buf, bits);
	}
}

static void encode_times(const int64_t *times, size_t n, struct lab_buf *buf)
{
	for (size_t i = 0; i < n; i++)
		add_u64(buf, (uint64_t)times[i]);
}

int values_put(struct db *db, int64_t run, const struct sample *sample, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (!sample || !sample->n)
		return 0;
	if (db_prepare(db, SQL_VALUES_ADD, &st, err) < 0)
		return -1;
	for (size_t i = 0; i < sample->n; i++) {
		const struct sample_value *item = &sample->items[i];
		LAB_CLEANUP(buf) struct lab_buf data = LAB_BUF_INIT;
		LAB_CLEANUP(buf) struct lab_buf times = LAB_BUF_INIT;

		encode_doubles(item->values, item->n, &data);
		db_int(st, run);
		db_int(st, (int64_t)i + 1);
		db_text(st, item->metric);
		db_blob(st, data.data, data.len);
		if (item->t_ns) {
			encode_times(item->t_ns, item->n, &times);
			db_blob(st, times.data, times.len);
		} else {
			db_text(st, NULL);
		}
		if (db_run(st, err) < 0)
			return lab_error_wrap(err, "values of %s", item->metric);
	}
	return 0;
}

/* The current row as the next item of the sample. */
static int decode(struct db_stmt *st, struct sample *sample, struct lab_error *err)
{
	struct sample_value *item;
	const unsigned char *data;
	size_t len;

	LAB_GROW(sample->items, sample->n, sample->cap);
	item = &sample->items[sample->n++];
	*item = (struct sample_value){.metric = db_col_text(st, 0)};
	data = db_col_blob(st, 1, &len);
	if (len % 8)
		return lab_error_set(err, LAB_ERR_FAILED, "values of %s are damaged", item->metric);
	item->n = item->cap = len / 8;
	item->values = LAB_NEW_ARRAY(double, item->n);
	for (size_t i = 0; i < item->n; i++) {
		uint64_t bits = get_u64(data + 8 * i);

		memcpy(&item->values[i], &bits, sizeof(bits));
	}
	data = db_col_blob(st, 2, &len);
	if (!data)
		return 0;
	if (len != 8 * item->n)
		return lab_error_set(err, LAB_ERR_FAILED, "times of %s are damaged", item->metric);
	item->t_ns = LAB_NEW_ARRAY(int64_t, item->n);
	for (size_t i = 0; i < item->n; i++)
		item->t_ns[i] = (int64_t)get_u64(data + 8 * i);
	return 0;
}

int values_get(struct db *db, int64_t run, const char *metric, struct sample *ret_sample,
	       struct lab_error *err)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(db, metric ? SQL_VALUES_GET_METRIC : SQL_VALUES_GET, &st, err) < 0)
		return -1;
	db_int(st, run);
	if (metric)
		db_text(st, metric);
	while ((rc = db_step(st, err)) > 0) {
		if (decode(st, &sample, err) < 0)
			return -1;
	}
	if (rc < 0)
		return -1;
	*ret_sample = sample;
	sample = (struct sample)SAMPLE_INIT;
	return 0;
}
