/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/watch.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/num.h"
#include "protocol/message.h"

void watch_init(struct watch *watch, struct record *record,
		const struct experiment_deadlines *limits, uint64_t now)
{
	*watch = (struct watch){
		.limits = *limits,
		.streams = true,
		.record = record,
		.started = now,
	};
}

void watch_end(struct watch *watch, enum run_end end, const char *text)
{
	if (watch->ended)
		return;
	watch->ended = true;
	watch->end = end;
	snprintf(watch->text, sizeof(watch->text), "%.290s", text ? text : "");
}

static void hello(struct watch *w, const struct message_hello *m, uint64_t now)
{
	char text[300];

	w->hello = w->progressed = now;
	if (m->protocol != MESSAGE_PROTOCOL) {
		snprintf(text, sizeof(text), "it speaks protocol %lld, this labctl %d",
			 (long long)m->protocol, MESSAGE_PROTOCOL);
		watch_end(w, RUN_END_AGENT, text);
	} else if (w->build_id && strcmp(w->build_id, m->kernel_build_id) != 0) {
		snprintf(text, sizeof(text), "build id %.64s (%.60s) instead of %.64s",
			 *m->kernel_build_id ? m->kernel_build_id : "(none)", m->kernel_release,
			 w->build_id);
		watch_end(w, RUN_END_WRONG_KERNEL, text);
	}
}

static void done(struct watch *w, const struct message_done *m, uint64_t now)
{
	char text[300];
	enum run_end end = RUN_END_AGENT;

	w->done = now;
	snprintf(text, sizeof(text), "%.280s", m->text ? m->text : "");
	if (m->ok || strcmp(m->error, MESSAGE_ERR_WORKLOAD) == 0)
		end = RUN_END_DONE;
	else if (strcmp(m->error, MESSAGE_ERR_MOUNT) == 0 ||
		 strcmp(m->error, MESSAGE_ERR_SWAP) == 0 ||
		 strcmp(m->error, MESSAGE_ERR_SETTING) == 0)
		end = RUN_END_REFUSED;
	watch_end(w, end, text);
}

/* Whatever shows that the job gets on, heartbeats that only repeat themselves do not. */
static bool moves(struct watch *w, const struct message *m)
{
	switch (m->type) {
	case MESSAGE_HEARTBEAT:
		if (m->u.heartbeat.progress == w->progress)
			return false;
		w->progress = m->u.heartbeat.progress;
		return true;
	case MESSAGE_PHASE:
	case MESSAGE_STEP:
		return true;
	default:
		return false;
	}
}

void watch_frame(struct watch *watch, const json_t *frame, uint64_t now)
{
	struct lab_error why;
	struct message m;

	if (record_feed(watch->record, frame, &why) || message_read(frame, &m, &why)) {
		watch_end(watch, RUN_END_GARBAGE, why.text);
		return;
	}
	watch->heard = now;
	if (moves(watch, &m))
		watch->progressed = now;
	if (m.type == MESSAGE_HELLO)
		hello(watch, &m.u.hello, now);
	else if (m.type == MESSAGE_DONE)
		done(watch, &m.u.done, now);
	else if (m.type == MESSAGE_REPLY && !m.u.reply.ok && !watch->ended)
		watch_end(watch, RUN_END_AGENT, m.u.reply.text);
}

void watch_stopped(struct watch *watch, enum machine_stop stop, const char *text)
{
	static const enum run_end ends[] = {
		[MACHINE_SHUTDOWN] = RUN_END_SHUTDOWN, [MACHINE_REBOOT] = RUN_END_REBOOT,
		[MACHINE_CRASHED] = RUN_END_CRASHED,   [MACHINE_LOST] = RUN_END_LOST,
		[MACHINE_IO_ERROR] = RUN_END_IO_ERROR,
	};

	watch_end(watch, ends[stop], text);
}

struct limit {
	uint64_t at; /* 0: does not apply now */
	enum run_end end;
	uint64_t ms;
	const char *before, *after; /* around the time in the message */
};

static void passed(struct watch *w, const struct limit *limit)
{
	char span[32], text[200];

	lab_format_duration(limit->ms, span, sizeof(span));
	snprintf(text, sizeof(text), "%s%s%s", limit->before, span, limit->after);
	watch_end(w, limit->end, text);
}

int watch_wait(struct watch *watch, uint64_t now, int most)
{
	const struct experiment_deadlines *d = &watch->limits;
	bool boots = !watch->hello && watch->streams;
	bool up = watch->hello && watch->streams;
	const struct limit limits[] = {
		{boots ? watch->started + d->boot : 0, RUN_END_BOOT, d->boot, "in ",
		 " after the start"},
		{up ? watch->heard + d->heartbeat : 0, RUN_END_SILENT, d->heartbeat, "for ", ""},
		{up ? watch->progressed + d->progress : 0, RUN_END_NO_PROGRESS, d->progress, "for ",
		 ", though the agent lives"},
		{watch->started + d->total, RUN_END_TOTAL, d->total, "",
		 watch->streams ? " are over, though it got on" : " are over"},
	};
	uint64_t wait = (uint64_t)most;

	for (size_t i = 0; i < LAB_COUNT(limits); i++) {
		if (!limits[i].at)
			continue;
		if (limits[i].at <= now) {
			passed(watch, &limits[i]);
			return 0;
		}
		if (limits[i].at - now < wait)
			wait = limits[i].at - now;
	}
	return (int)wait;
}
