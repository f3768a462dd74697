/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The passive half of struct record: look-ups and the end of it. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "protocol/record.h"

static void notes_release(struct record_note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(notes[i].name);
		free(notes[i].text);
	}
	free(notes);
}

void record_release(struct record *record)
{
	free(record->hello.agent);
	free(record->hello.boot_id);
	free(record->hello.kernel_build_id);
	free(record->hello.kernel_release);
	for (size_t i = 0; i < record->n_phases; i++)
		free(record->phases[i].name);
	free(record->phases);
	for (size_t i = 0; i < record->n_steps; i++) {
		free(record->steps[i].phase);
		free(record->steps[i].name);
		free(record->steps[i].error);
	}
	free(record->steps);
	for (size_t i = 0; i < record->n_streams; i++) {
		free(record->streams[i].name);
		lab_buf_release(&record->streams[i].data);
	}
	free(record->streams);
	lab_strv_release(&record->names);
	free(record->last);
	for (size_t i = 0; i < record->n_rows; i++)
		free(record->rows[i].values);
	free(record->rows);
	notes_release(record->logs, record->n_logs);
	notes_release(record->unavailable, record->n_unavailable);
	free(record->error);
	free(record->error_text);
	free(record->torn);
	*record = (struct record)RECORD_INIT;
}

const struct record_phase *record_find_phase(const struct record *record, const char *phase)
{
	for (size_t i = 0; i < record->n_phases; i++) {
		if (strcmp(record->phases[i].name, phase) == 0)
			return &record->phases[i];
	}
	return NULL;
}

const struct record_step *record_find_step(const struct record *record, const char *phase,
					   const char *step)
{
	for (size_t i = 0; i < record->n_steps; i++) {
		if (strcmp(record->steps[i].name, step) == 0 &&
		    strcmp(record->steps[i].phase, phase) == 0)
			return &record->steps[i];
	}
	return NULL;
}

const struct lab_buf *record_find_stream(const struct record *record, const char *stream)
{
	for (size_t i = 0; i < record->n_streams; i++) {
		if (strcmp(record->streams[i].name, stream) == 0)
			return &record->streams[i].data;
	}
	return NULL;
}

const struct lab_buf *record_find_output(const struct record *record, const char *phase,
					 const char *step, const char *which)
{
	LAB_CLEANUP(free) char *name = lab_asprintf("%s/%s/%s", phase, step, which);

	return record_find_stream(record, name);
}

const struct lab_buf *record_find_snapshot(const struct record *record, const char *when,
					   const char *name)
{
	return record_find_output(record, "snapshot", when, name);
}

ssize_t record_find_name(const struct record *record, const char *name)
{
	for (size_t i = 0; i < record->names.n; i++) {
		if (strcmp(record->names.items[i], name) == 0)
			return (ssize_t)i;
	}
	return -1;
}

bool record_value(const struct record *record, size_t row, size_t column, int64_t *ret_value)
{
	const struct record_row *r;

	if (row >= record->n_rows)
		return false;
	r = &record->rows[row];
	if (column >= r->n || r->values[column] == MESSAGE_ABSENT)
		return false;
	*ret_value = r->values[column];
	return true;
}
