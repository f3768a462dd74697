/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/mem.h"
#include "protocol/field.h"
#include "protocol/message.h"

static void put(json_t *msg, const char *key, json_t *value)
{
	if (!value || json_object_set_new(msg, key, value) < 0)
		abort();
}

/* Free text is cut to what the other side accepts. */
static void put_str(json_t *msg, const char *key, const char *s)
{
	LAB_CLEANUP(free) char *cut = NULL;

	if (s && strlen(s) > MESSAGE_TEXT_MAX)
		s = cut = lab_strndup(s, MESSAGE_TEXT_MAX);
	put(msg, key, s ? field_make_str(s) : json_null());
}

static void put_int(json_t *msg, const char *key, int64_t value)
{
	put(msg, key, json_integer(value));
}

static json_t *make(enum message_type type)
{
	json_t *msg = json_object();

	put_str(msg, "type", message_type_name(type));
	return msg;
}

json_t *message_make_request(int64_t id, const char *op, json_t *job)
{
	json_t *msg = make(MESSAGE_REQUEST);

	put_int(msg, "id", id);
	put_str(msg, "op", op);
	if (job)
		put(msg, "job", json_incref(job));
	return msg;
}

json_t *message_make_hello(const struct message_hello *hello)
{
	json_t *msg = make(MESSAGE_HELLO);

	put_int(msg, "protocol", hello->protocol);
	put_str(msg, "agent", hello->agent);
	put_str(msg, "boot_id", hello->boot_id);
	put_str(msg, "kernel_build_id", hello->kernel_build_id);
	put_str(msg, "kernel_release", hello->kernel_release);
	put_int(msg, "t", hello->t_ns);
	return msg;
}

static void put_verdict(json_t *msg, const char *error, const char *text)
{
	put(msg, "ok", json_boolean(!error));
	if (!error)
		return;
	put_str(msg, "error", error);
	put_str(msg, "text", text ? text : "");
}

json_t *message_make_reply(int64_t id, const char *error, const char *text)
{
	json_t *msg = make(MESSAGE_REPLY);

	put_int(msg, "id", id);
	put_verdict(msg, error, text);
	return msg;
}

json_t *message_make_done(int64_t t_ns, const char *error, const char *text)
{
	json_t *msg = make(MESSAGE_DONE);

	put_int(msg, "t", t_ns);
	put_verdict(msg, error, text);
	return msg;
}

json_t *message_make_phase(const struct message_phase *phase)
{
	json_t *msg = make(MESSAGE_PHASE);

	put_str(msg, "phase", phase->phase);
	put_str(msg, "event", phase->end ? "end" : "begin");
	put_int(msg, "t", phase->t_ns);
	return msg;
}

json_t *message_make_step(const struct message_step *step)
{
	json_t *msg = make(MESSAGE_STEP);

	put_str(msg, "phase", step->phase);
	put_str(msg, "step", step->step);
	put_str(msg, "event", step->end ? "end" : "begin");
	put_int(msg, "t", step->t_ns);
	if (!step->end)
		return msg;
	put_int(msg, "exit", step->exit_code);
	put_int(msg, "signal", step->signal);
	put(msg, "timed_out", json_boolean(step->timed_out));
	put_str(msg, "error", step->error);
	put_int(msg, "wall_ns", step->wall_ns);
	put_int(msg, "user_ns", step->user_ns);
	put_int(msg, "system_ns", step->system_ns);
	put_int(msg, "maxrss_kb", step->maxrss_kb);
	put_int(msg, "leftover", step->leftover);
	return msg;
}

json_t *message_make_data(const char *stream, int64_t offset, int64_t t_ns, const void *data,
			  size_t len)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_t *msg = make(MESSAGE_DATA);

	lab_base64_encode(&text, data, len);
	put_str(msg, "stream", stream);
	put_int(msg, "offset", offset);
	put_int(msg, "t", t_ns);
	put(msg, "data", json_stringn(text.data ? text.data : "", text.len));
	return msg;
}

json_t *message_make_names(int64_t first, const char *const *names, size_t n)
{
	json_t *msg = make(MESSAGE_NAMES), *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, field_make_str(names[i]));
	put_int(msg, "first", first);
	put(msg, "names", list);
	return msg;
}

/* Decimal digits; a row has hundreds of numbers, most of them one digit long. */
static void add_number(struct lab_buf *out, int64_t value)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--at = '-';
	lab_buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

void message_series_text(int64_t t_ns, enum message_mark mark, const int64_t *deltas, size_t n,
			 struct lab_buf *out)
{
	lab_buf_adds(out, "{\"type\":\"series\",\"t\":");
	add_number(out, t_ns);
	if (mark != MESSAGE_MARK_NONE)
		lab_buf_adds(out, mark == MESSAGE_MARK_BEFORE ? ",\"mark\":\"before\""
							      : ",\"mark\":\"after\"");
	lab_buf_adds(out, ",\"deltas\":[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			lab_buf_addc(out, ',');
		if (deltas[i] == MESSAGE_ABSENT)
			lab_buf_adds(out, "null");
		else
			add_number(out, deltas[i]);
	}
	lab_buf_adds(out, "]}");
}

json_t *message_make_unavailable(const char *what, const char *why)
{
	json_t *msg = make(MESSAGE_UNAVAILABLE);

	put_str(msg, "what", what);
	put_str(msg, "why", why);
	return msg;
}

json_t *message_make_heartbeat(int64_t t_ns, int64_t progress)
{
	json_t *msg = make(MESSAGE_HEARTBEAT);

	put_int(msg, "t", t_ns);
	put_int(msg, "progress", progress);
	return msg;
}

json_t *message_make_log(int64_t t_ns, const char *level, const char *text)
{
	json_t *msg = make(MESSAGE_LOG);

	put_int(msg, "t", t_ns);
	put_str(msg, "level", level);
	put_str(msg, "text", text);
	return msg;
}
