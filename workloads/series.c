/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/series.h"

#include <string.h>

#include "common/mem.h"

static const struct {
	const char *metric, *column;
} memory[] = {
	{"SReclaimable", "meminfo.SReclaimable"},
	{"SUnreclaim", "meminfo.SUnreclaim"},
	{"Slab", "meminfo.Slab"},
};

void series_metrics(struct metric_list *list)
{
	for (size_t i = 0; i < LAB_COUNT(memory); i++) {
		struct metric *m = metric_add(list, memory[i].metric, "kB", "memory");

		m->direction = '-';
		m->sampled = true;
	}
}

static int add_column(const struct record *record, const struct record_phase *phase, size_t which,
		      struct sample *sample, struct lab_error *err)
{
	ssize_t column = record_find_name(record, memory[which].column);
	size_t n = 0;

	if (column < 0)
		return lab_error_set(err, LAB_ERR_INVALID, "the series have no %s",
				     memory[which].column);
	for (size_t i = 0; i < record->n_rows; i++) {
		const struct record_row *row = &record->rows[i];
		int64_t value;

		if (row->mark != MESSAGE_MARK_NONE || row->t_ns < phase->begin_ns ||
		    row->t_ns > phase->end_ns || !record_value(record, i, (size_t)column, &value))
			continue;
		if (value < 0)
			return lab_error_set(err, LAB_ERR_INVALID, "%s is %lld",
					     memory[which].column, (long long)value);
		if (sample_add_at(sample, memory[which].metric, (double)value, row->t_ns))
			return lab_error_set(err, LAB_ERR_INVALID, "%s: a value that is none",
					     memory[which].column);
		n++;
	}
	if (!n)
		return lab_error_set(
			err, LAB_ERR_INVALID,
			"no sample of %s fell into phase '%s' (%.1f s): sample more often",
			memory[which].column, phase->name,
			(double)(phase->end_ns - phase->begin_ns) / 1e9);
	return 0;
}

int series_parse(const struct record *record, const char *phase_name, struct sample *sample,
		 struct lab_error *err)
{
	const struct record_phase *phase = record_find_phase(record, phase_name);

	if (!phase || !phase->ended)
		return lab_error_set(err, LAB_ERR_INVALID, "phase '%s' did not %s", phase_name,
				     phase ? "end" : "begin");
	for (size_t i = 0; i < LAB_COUNT(memory); i++)
		if (add_column(record, phase, i, sample, err))
			return -1;
	return 0;
}
