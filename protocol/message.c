/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "protocol/message.h"

#include <string.h>

#include "common/base64.h"
#include "common/mem.h"
#include "protocol/field.h"
#include "protocol/job.h"

#define STREAM_MAX 256
#define SERIES_NAME_MAX 128
/* Length of the base64 text of MESSAGE_DATA_MAX bytes. */
#define BASE64_MAX ((MESSAGE_DATA_MAX + 2) / 3 * 4)

static int read_hello(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_hello *h = &m->u.hello;

	if (field_int(json, "protocol", 1, INT64_MAX, &h->protocol, err) < 0 ||
	    field_str(json, "agent", 1, 256, &h->agent, err) < 0 ||
	    field_str(json, "boot_id", 1, 64, &h->boot_id, err) < 0 ||
	    field_str(json, "kernel_build_id", 0, 128, &h->kernel_build_id, err) < 0 ||
	    field_str(json, "kernel_release", 1, 256, &h->kernel_release, err) < 0)
		return -1;
	return field_int(json, "t", 0, INT64_MAX, &h->t_ns, err);
}

static int read_request(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_request *r = &m->u.request;

	if (field_int(json, "id", 1, INT64_MAX, &r->id, err) < 0 ||
	    field_str(json, "op", 1, 32, &r->op, err) < 0)
		return -1;
	return strcmp(r->op, "job") == 0 ? field_object(json, "job", &r->job, err) : 0;
}

/* "ok", and where it is false the name and the text of the error. */
static int read_verdict(const json_t *json, bool *ok, const char **error, const char **text,
			struct lab_error *err)
{
	if (field_bool(json, "ok", ok, err) < 0)
		return -1;
	if (*ok)
		return 0;
	if (field_str(json, "error", 1, 32, error, err) < 0 ||
	    field_str(json, "text", 0, MESSAGE_TEXT_MAX, text, err) < 0)
		return -1;
	if (!field_is_name(*error))
		return lab_error_set(err, LAB_ERR_INVALID, "field \"error\" is not a plain name");
	return 0;
}

static int read_reply(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_reply *r = &m->u.reply;

	if (field_int(json, "id", 0, INT64_MAX, &r->id, err) < 0)
		return -1;
	return read_verdict(json, &r->ok, &r->error, &r->text, err);
}

static int read_done(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_done *d = &m->u.done;

	if (field_int(json, "t", 0, INT64_MAX, &d->t_ns, err) < 0)
		return -1;
	return read_verdict(json, &d->ok, &d->error, &d->text, err);
}

static int read_event(const json_t *json, bool *end, int64_t *t_ns, struct lab_error *err)
{
	const char *event;

	if (field_str(json, "event", 1, 8, &event, err) < 0 ||
	    field_int(json, "t", 0, INT64_MAX, t_ns, err) < 0)
		return -1;
	*end = strcmp(event, "end") == 0;
	if (!*end && strcmp(event, "begin") != 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "field \"event\" is neither begin nor end");
	return 0;
}

static int read_name(const json_t *json, const char *key, const char **ret, struct lab_error *err)
{
	if (field_str(json, key, 1, JOB_NAME_MAX, ret, err) < 0)
		return -1;
	if (!field_is_name(*ret))
		return lab_error_set(err, LAB_ERR_INVALID, "field \"%s\" is not a plain name", key);
	return 0;
}

static int read_phase(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_phase *p = &m->u.phase;

	if (read_name(json, "phase", &p->phase, err) < 0)
		return -1;
	return read_event(json, &p->end, &p->t_ns, err);
}

static int read_step(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_step *s = &m->u.step;

	if (read_name(json, "phase", &s->phase, err) < 0 ||
	    read_name(json, "step", &s->step, err) < 0 ||
	    read_event(json, &s->end, &s->t_ns, err) < 0)
		return -1;
	if (!s->end)
		return 0;
	if (field_int(json, "exit", -1, 255, &s->exit_code, err) < 0 ||
	    field_int(json, "signal", 0, 128, &s->signal, err) < 0 ||
	    field_bool(json, "timed_out", &s->timed_out, err) < 0 ||
	    field_opt_str(json, "error", MESSAGE_TEXT_MAX, &s->error, err) < 0 ||
	    field_int(json, "wall_ns", 0, INT64_MAX, &s->wall_ns, err) < 0 ||
	    field_int(json, "user_ns", 0, INT64_MAX, &s->user_ns, err) < 0 ||
	    field_int(json, "system_ns", 0, INT64_MAX, &s->system_ns, err) < 0 ||
	    field_int(json, "maxrss_kb", 0, INT64_MAX, &s->maxrss_kb, err) < 0)
		return -1;
	return field_int(json, "leftover", 0, INT64_MAX, &s->leftover, err);
}

/* Streams become file names on the host one day: plain names between single slashes. */
static bool stream_ok(const char *stream)
{
	char part[JOB_NAME_MAX + 1];

	for (;;) {
		size_t len = strcspn(stream, "/");

		if (len >= sizeof(part))
			return false;
		memcpy(part, stream, len);
		part[len] = '\0';
		if (!field_is_name(part))
			return false;
		if (!stream[len])
			return true;
		stream += len + 1;
	}
}

static int read_data(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_data *d = &m->u.data;

	if (field_str(json, "stream", 1, STREAM_MAX, &d->stream, err) < 0 ||
	    field_int(json, "offset", 0, INT64_MAX, &d->offset, err) < 0 ||
	    field_int(json, "t", 0, INT64_MAX, &d->t_ns, err) < 0 ||
	    field_str(json, "data", 0, BASE64_MAX, &d->base64, err) < 0)
		return -1;
	if (!stream_ok(d->stream))
		return lab_error_set(err, LAB_ERR_INVALID, "field \"stream\" is not a plain path");
	d->base64_len = json_string_length(json_object_get(json, "data"));
	return 0;
}

static int read_names(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_names *n = &m->u.names;

	if (field_int(json, "first", 0, MESSAGE_NAMES_MAX, &n->first, err) < 0 ||
	    field_array(json, "names", MESSAGE_NAMES_MAX, &n->names, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(n->names); i++) {
		const json_t *name = json_array_get(n->names, i);

		if (!json_is_string(name) || !json_string_length(name) ||
		    json_string_length(name) > SERIES_NAME_MAX)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "field \"names\": element %zu is not a name", i);
	}
	return 0;
}

static int read_series(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_series *s = &m->u.series;
	const char *mark;

	if (field_int(json, "t", 0, INT64_MAX, &s->t_ns, err) < 0 ||
	    field_opt_str(json, "mark", 16, &mark, err) < 0 ||
	    field_array(json, "deltas", MESSAGE_NAMES_MAX, &s->deltas, err) < 0)
		return -1;
	if (!mark)
		s->mark = MESSAGE_MARK_NONE;
	else if (strcmp(mark, "before") == 0)
		s->mark = MESSAGE_MARK_BEFORE;
	else if (strcmp(mark, "after") == 0)
		s->mark = MESSAGE_MARK_AFTER;
	else
		return lab_error_set(err, LAB_ERR_INVALID,
				     "field \"mark\" is neither before nor after");
	for (size_t i = 0; i < json_array_size(s->deltas); i++) {
		const json_t *delta = json_array_get(s->deltas, i);

		if (!json_is_integer(delta) && !json_is_null(delta))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "field \"deltas\": element %zu is not an integer", i);
	}
	return 0;
}

static int read_unavailable(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_unavailable *u = &m->u.unavailable;

	if (field_str(json, "what", 1, SERIES_NAME_MAX, &u->what, err) < 0)
		return -1;
	return field_str(json, "why", 0, MESSAGE_TEXT_MAX, &u->why, err);
}

static int read_heartbeat(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_heartbeat *h = &m->u.heartbeat;

	if (field_int(json, "t", 0, INT64_MAX, &h->t_ns, err) < 0)
		return -1;
	return field_int(json, "progress", 0, INT64_MAX, &h->progress, err);
}

static int read_log(const json_t *json, struct message *m, struct lab_error *err)
{
	struct message_log *l = &m->u.log;

	if (field_int(json, "t", 0, INT64_MAX, &l->t_ns, err) < 0 ||
	    read_name(json, "level", &l->level, err) < 0)
		return -1;
	return field_str(json, "text", 0, MESSAGE_TEXT_MAX, &l->text, err);
}

/* The one list of message types. */
static const struct {
	const char *name;
	int (*read)(const json_t *json, struct message *m, struct lab_error *err);
} types[] = {
	[MESSAGE_UNKNOWN] = {"unknown", NULL},
	[MESSAGE_HELLO] = {"hello", read_hello},
	[MESSAGE_REQUEST] = {"request", read_request},
	[MESSAGE_REPLY] = {"reply", read_reply},
	[MESSAGE_PHASE] = {"phase", read_phase},
	[MESSAGE_STEP] = {"step", read_step},
	[MESSAGE_DATA] = {"data", read_data},
	[MESSAGE_NAMES] = {"names", read_names},
	[MESSAGE_SERIES] = {"series", read_series},
	[MESSAGE_UNAVAILABLE] = {"unavailable", read_unavailable},
	[MESSAGE_HEARTBEAT] = {"heartbeat", read_heartbeat},
	[MESSAGE_LOG] = {"log", read_log},
	[MESSAGE_DONE] = {"done", read_done},
};

const char *message_type_name(enum message_type type)
{
	return types[type].name;
}

int message_read(const json_t *json, struct message *ret_message, struct lab_error *err)
{
	struct message m = {MESSAGE_UNKNOWN};
	const char *type;

	if (!json_is_object(json))
		return lab_error_set(err, LAB_ERR_INVALID, "message is not an object");
	if (field_str(json, "type", 1, 32, &type, err) < 0)
		return lab_error_wrap(err, "message");
	for (size_t i = MESSAGE_UNKNOWN + 1; i < LAB_COUNT(types); i++) {
		if (strcmp(types[i].name, type) != 0)
			continue;
		m.type = (enum message_type)i;
		if (types[i].read(json, &m, err) < 0)
			return lab_error_wrap(err, "message %s", type);
		break;
	}
	*ret_message = m;
	return 0;
}

int message_data_bytes(const struct message_data *data, struct lab_buf *out, struct lab_error *err)
{
	if (lab_base64_decode(out, data->base64, data->base64_len) < 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "message data: field \"data\" is not base64");
	return 0;
}
