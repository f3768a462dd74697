/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "protocol/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/num.h"
#include "protocol/frame.h"

/* What one kept thing costs beside its bytes, so that many empty ones count too. */
#define ITEM_COST 256
#define STREAMS_MAX 4096
#define STEPS_MAX 65536

static int refuse(struct lab_error *err, const char *what, const char *name)
{
	return lab_error_set(err, LAB_ERR_INVALID, "%s '%s'", what, name);
}

/* Books `bytes` more before they are allocated. */
static int charge(struct record *record, uint64_t bytes, struct lab_error *err)
{
	uint64_t max = record->max_bytes ? record->max_bytes : RECORD_MAX;
	char text[16];

	if (bytes > max || record->bytes > max - bytes)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "the record of this run would be larger than %s",
				     lab_format_size(max, text, sizeof(text)));
	record->bytes += bytes;
	return 0;
}

static int feed_hello(struct record *record, const struct message_hello *hello,
		      struct lab_error *err)
{
	if (record->has_hello)
		return refuse(err, "a second hello, from boot", hello->boot_id);
	record->has_hello = true;
	record->hello.protocol = hello->protocol;
	record->hello.agent = lab_strdup(hello->agent);
	record->hello.boot_id = lab_strdup(hello->boot_id);
	record->hello.kernel_build_id = lab_strdup(hello->kernel_build_id);
	record->hello.kernel_release = lab_strdup(hello->kernel_release);
	record->hello.t_ns = hello->t_ns;
	return 0;
}

static struct record_phase *open_phase(struct record *record)
{
	struct record_phase *newest =
		record->n_phases ? &record->phases[record->n_phases - 1] : NULL;

	return newest && !newest->ended ? newest : NULL;
}

static struct record_step *open_step(struct record *record)
{
	struct record_step *newest = record->n_steps ? &record->steps[record->n_steps - 1] : NULL;

	return newest && !newest->ended ? newest : NULL;
}

static int feed_phase(struct record *record, const struct message_phase *m, struct lab_error *err)
{
	struct record_phase *open = open_phase(record);

	if (m->end) {
		if (!open || strcmp(open->name, m->phase) != 0 || open_step(record))
			return refuse(err, "an end that fits no begin, of phase", m->phase);
		open->ended = true;
		open->end_ns = m->t_ns;
		return 0;
	}
	if (open || record_find_phase(record, m->phase))
		return refuse(err, "a begin out of order, of phase", m->phase);
	if (record->n_phases >= STEPS_MAX)
		return refuse(err, "too many phases, at", m->phase);
	if (charge(record, ITEM_COST, err) < 0)
		return -1;
	LAB_GROW(record->phases, record->n_phases, record->cap_phases);
	record->phases[record->n_phases++] =
		(struct record_phase){.name = lab_strdup(m->phase), .begin_ns = m->t_ns};
	return 0;
}

static int begin_step(struct record *record, const struct message_step *m, struct lab_error *err)
{
	const struct record_phase *phase = open_phase(record);

	if (!phase || strcmp(phase->name, m->phase) != 0 || open_step(record) ||
	    record_find_step(record, m->phase, m->step))
		return refuse(err, "a begin out of order, of step", m->step);
	if (record->n_steps >= STEPS_MAX)
		return refuse(err, "too many steps, at", m->step);
	if (charge(record, ITEM_COST, err) < 0)
		return -1;
	LAB_GROW(record->steps, record->n_steps, record->cap_steps);
	record->steps[record->n_steps++] = (struct record_step){
		.phase = lab_strdup(m->phase),
		.name = lab_strdup(m->step),
		.begin_ns = m->t_ns,
	};
	return 0;
}

static int feed_step(struct record *record, const struct message_step *m, struct lab_error *err)
{
	struct record_step *open = open_step(record);

	if (!m->end)
		return begin_step(record, m, err);
	if (!open || strcmp(open->phase, m->phase) != 0 || strcmp(open->name, m->step) != 0)
		return refuse(err, "an end that fits no begin, of step", m->step);
	if (charge(record, m->error ? strlen(m->error) : 0, err) < 0)
		return -1;
	open->ended = true;
	open->end_ns = m->t_ns;
	open->exit_code = m->exit_code;
	open->signal = m->signal;
	open->timed_out = m->timed_out;
	open->error = lab_strdup(m->error);
	open->wall_ns = m->wall_ns;
	open->user_ns = m->user_ns;
	open->system_ns = m->system_ns;
	open->maxrss_kb = m->maxrss_kb;
	open->leftover = m->leftover;
	return 0;
}

static struct record_stream *get_stream(struct record *record, const char *name,
					struct lab_error *err)
{
	/* The newest stream is nearly always the one. */
	for (size_t i = record->n_streams; i-- > 0;) {
		if (strcmp(record->streams[i].name, name) == 0)
			return &record->streams[i];
	}
	if (record->n_streams >= STREAMS_MAX) {
		refuse(err, "too many streams, at", name);
		return NULL;
	}
	if (charge(record, ITEM_COST + strlen(name), err) < 0)
		return NULL;
	LAB_GROW(record->streams, record->n_streams, record->cap_streams);
	record->streams[record->n_streams] = (struct record_stream){.name = lab_strdup(name)};
	return &record->streams[record->n_streams++];
}

static int feed_data(struct record *record, const struct message_data *m, struct lab_error *err)
{
	struct record_stream *stream = get_stream(record, m->stream, err);

	if (!stream)
		return -1;
	if ((uint64_t)m->offset != stream->data.len)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "stream '%s' goes on at byte %lld where %zu are known",
				     m->stream, (long long)m->offset, stream->data.len);
	if (charge(record, m->base64_len / 4 * 3, err) < 0)
		return -1;
	return message_data_bytes(m, &stream->data, err);
}

static int feed_names(struct record *record, const struct message_names *m, struct lab_error *err)
{
	size_t n = json_array_size(m->names), cap = record->names.n + n;

	if ((uint64_t)m->first != record->names.n || cap > MESSAGE_NAMES_MAX)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "series names %lld to %zu do not follow the %zu known",
				     (long long)m->first, (size_t)m->first + n, record->names.n);
	for (size_t i = 0; i < n; i++) {
		const json_t *name = json_array_get(m->names, i);

		if (charge(record, 32 + json_string_length(name), err) < 0)
			return -1;
		LAB_GROW(record->last, record->names.n, record->cap_last);
		record->last[record->names.n] = 0;
		lab_strv_add(&record->names, json_string_value(name));
	}
	return 0;
}

/* Applies the deltas to a copy of the newest values; the record changes only as a whole. */
static int row_values(const struct record *record, const json_t *deltas, int64_t *last,
		      int64_t *values, struct lab_error *err)
{
	for (size_t i = 0; i < json_array_size(deltas); i++) {
		const json_t *delta = json_array_get(deltas, i);

		values[i] = MESSAGE_ABSENT;
		if (json_is_null(delta))
			continue;
		if (__builtin_add_overflow(last[i], (int64_t)json_integer_value(delta), &last[i]) ||
		    last[i] == MESSAGE_ABSENT)
			return refuse(err, "a value out of range, of series",
				      record->names.items[i]);
		values[i] = last[i];
	}
	return 0;
}

static int feed_series(struct record *record, const struct message_series *m, struct lab_error *err)
{
	size_t n = json_array_size(m->deltas);
	LAB_CLEANUP(free) int64_t *values = NULL;
	LAB_CLEANUP(free) int64_t *last = NULL;

	if (n != record->names.n)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "a row of %zu values for %zu series names", n,
				     record->names.n);
	if (record->n_rows && m->t_ns < record->rows[record->n_rows - 1].t_ns)
		return lab_error_set(err, LAB_ERR_INVALID, "a series row from the past");
	if (charge(record, ITEM_COST + n * sizeof(*values), err) < 0)
		return -1;
	values = LAB_NEW_ARRAY(int64_t, n);
	last = LAB_NEW_ARRAY(int64_t, n);
	if (n)
		memcpy(last, record->last, n * sizeof(*last));
	if (row_values(record, m->deltas, last, values, err) < 0)
		return -1;
	if (n)
		memcpy(record->last, last, n * sizeof(*last));
	LAB_GROW(record->rows, record->n_rows, record->cap_rows);
	record->rows[record->n_rows++] = (struct record_row){m->t_ns, m->mark, n, LAB_TAKE(values)};
	return 0;
}

static int add_note(struct record *record, struct record_note **notes, size_t *n, size_t *cap,
		    const struct message_log *m, struct lab_error *err)
{
	if (charge(record, ITEM_COST + strlen(m->level) + strlen(m->text), err) < 0)
		return -1;
	LAB_GROW(*notes, *n, *cap);
	(*notes)[(*n)++] = (struct record_note){m->t_ns, lab_strdup(m->level), lab_strdup(m->text)};
	return 0;
}

static int feed_done(struct record *record, const struct message_done *m, struct lab_error *err)
{
	if (record->done)
		return lab_error_set(err, LAB_ERR_INVALID, "done is said twice");
	record->done = true;
	record->ok = m->ok;
	record->error = m->ok ? NULL : lab_strdup(m->error);
	record->error_text = m->ok ? NULL : lab_strdup(m->text);
	return 0;
}

static int feed_message(struct record *record, const struct message *m, struct lab_error *err)
{
	struct message_log note;

	if (!record->has_hello && m->type != MESSAGE_HELLO)
		return refuse(err, "hello comes first, not", message_type_name(m->type));
	switch (m->type) {
	case MESSAGE_HELLO:
		return feed_hello(record, &m->u.hello, err);
	case MESSAGE_REQUEST:
		return refuse(err, "the guest sends a", "request");
	case MESSAGE_PHASE:
		return feed_phase(record, &m->u.phase, err);
	case MESSAGE_STEP:
		return feed_step(record, &m->u.step, err);
	case MESSAGE_DATA:
		return feed_data(record, &m->u.data, err);
	case MESSAGE_NAMES:
		return feed_names(record, &m->u.names, err);
	case MESSAGE_SERIES:
		return feed_series(record, &m->u.series, err);
	case MESSAGE_UNAVAILABLE:
		note = (struct message_log){0, m->u.unavailable.what, m->u.unavailable.why};
		return add_note(record, &record->unavailable, &record->n_unavailable,
				&record->cap_unavailable, &note, err);
	case MESSAGE_HEARTBEAT:
		record->heartbeat_ns = m->u.heartbeat.t_ns;
		record->progress = m->u.heartbeat.progress;
		return 0;
	case MESSAGE_LOG:
		return add_note(record, &record->logs, &record->n_logs, &record->cap_logs,
				&m->u.log, err);
	case MESSAGE_DONE:
		return feed_done(record, &m->u.done, err);
	case MESSAGE_REPLY:
	case MESSAGE_UNKNOWN:
		break;
	}
	return 0;
}

int record_feed(struct record *record, const json_t *msg, struct lab_error *err)
{
	struct message m;

	if (message_read(msg, &m, err) < 0)
		return -1;
	return feed_message(record, &m, err);
}

/* Feeds what the decoder has. A frame that is none ends the file: *ret_end. */
static int drain(struct record *record, struct frame_decoder *decoder, bool *ret_end,
		 struct lab_error *err)
{
	struct lab_error why;
	json_t *msg = NULL;
	int rc;

	while ((rc = frame_decoder_next(decoder, &msg, &why)) > 0) {
		int fed = record_feed(record, msg, err);

		json_decref(msg);
		if (fed < 0)
			return -1;
	}
	if (rc < 0) {
		*ret_end = true;
		record->torn = lab_strdup(why.text);
	}
	return 0;
}

static int load_fd(struct record *record, int fd, struct frame_decoder *decoder,
		   struct lab_error *err)
{
	char chunk[65536];
	bool end = false;

	while (!end) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lab_error_errno(err, errno, "read");
		if (n == 0)
			break;
		if (frame_decoder_feed(decoder, chunk, (size_t)n, err) < 0 ||
		    drain(record, decoder, &end, err) < 0)
			return -1;
	}
	if (!end && frame_decoder_pending(decoder))
		record->torn = lab_asprintf("the last frame is cut after %zu bytes",
					    frame_decoder_pending(decoder));
	return 0;
}

int record_load(const char *path, struct record *ret_record, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();
	LAB_CLEANUP(record) struct record record = RECORD_INIT;

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	if (load_fd(&record, fd, decoder, err) < 0)
		return lab_error_wrap(err, "%s", path);
	*ret_record = record;
	record = (struct record)RECORD_INIT;
	return 0;
}
