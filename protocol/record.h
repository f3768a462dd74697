/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_PROTOCOL_RECORD_H
#define LAB_PROTOCOL_RECORD_H

/*
 * What the frames of one run add up to. The host feeds it live; later the same
 * frames are read from a file. Plain data, for reading; only record_feed changes it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"
#include "protocol/message.h"

#define RECORD_MAX (512ull << 20) /* bytes that one run may make us keep */

struct record_phase {
	char *name;
	bool ended;
	int64_t begin_ns, end_ns;
};

struct record_step {
	char *phase;
	char *name;
	bool ended;
	int64_t begin_ns, end_ns;
	/* With `ended`, as in struct message_step. */
	int64_t exit_code, signal;
	bool timed_out;
	char *error;
	int64_t wall_ns, user_ns, system_ns, maxrss_kb, leftover;
};

struct record_stream {
	char *name;
	struct lab_buf data; /* bytes as the guest sent them; data.data may be NULL when empty */
};

struct record_row {
	int64_t t_ns;
	enum message_mark mark;
	size_t n;	 /* names known when it was taken: later names are absent */
	int64_t *values; /* absolute; MESSAGE_ABSENT where there was none */
};

struct record_note {
	int64_t t_ns;
	char *name; /* log level, or what is unavailable */
	char *text;
};

struct record {
	bool has_hello;
	struct {
		int64_t protocol;
		char *agent, *boot_id, *kernel_build_id, *kernel_release;
		int64_t t_ns;
	} hello;
	struct record_phase *phases;
	size_t n_phases, cap_phases;
	struct record_step *steps;
	size_t n_steps, cap_steps;
	struct record_stream *streams;
	size_t n_streams, cap_streams;
	/* Series: "meminfo.SReclaimable" (kB), "vmstat.pgmajfault", "slabinfo.dentry.active_objs",
	   "psi.memory.some.total" (us), "psi.memory.some.avg10_x100", ... */
	struct lab_strv names;
	int64_t *last; /* newest value of each name, whether or not the newest row had one */
	size_t cap_last;
	struct record_row *rows;
	size_t n_rows, cap_rows;
	struct record_note *logs;
	size_t n_logs, cap_logs;
	struct record_note *unavailable;
	size_t n_unavailable, cap_unavailable;
	int64_t heartbeat_ns; /* of the newest heartbeat, 0: none yet */
	int64_t progress;     /* of the newest heartbeat */
	bool done;
	bool ok;		  /* with done */
	char *error, *error_text; /* with done and not ok */
	char *torn;		  /* record_load: what is wrong with the file's tail, or NULL */
	uint64_t bytes;		  /* kept so far, about */
	uint64_t max_bytes;	  /* 0: RECORD_MAX */
};

#define RECORD_INIT           \
	{                     \
		.n_phases = 0 \
	}

/*
 * Adds one message. Fails on what an honest agent never sends (anything before
 * hello, a second hello, a gap in a stream, an end without its begin, too much);
 * the record then still holds what came before. Replies and heartbeats of a
 * well-behaved run are fine; a request is not.
 */
int record_feed(struct record *record, const json_t *msg, struct lab_error *err) LAB_MUST_CHECK;

/* Reads a frames file. A tail that is cut or not a frame is noted in ->torn, the rest is kept. */
int record_load(const char *path, struct record *ret_record, struct lab_error *err) LAB_MUST_CHECK;

void record_release(struct record *record);

static inline void lab_cleanup_record(struct record *record)
{
	record_release(record);
}

/* Look-ups: borrowed, NULL when there is none. */
const struct record_phase *record_find_phase(const struct record *record, const char *phase);
const struct record_step *record_find_step(const struct record *record, const char *phase,
					   const char *step);
const struct lab_buf *record_find_stream(const struct record *record, const char *stream);
/* Of a step: `which` is "stdout" or "stderr". */
const struct lab_buf *record_find_output(const struct record *record, const char *phase,
					 const char *step, const char *which);
/* `when` is "before" or "after", `name` as in the job's snapshots. */
const struct lab_buf *record_find_snapshot(const struct record *record, const char *when,
					   const char *name);
/* Column of a series name, or -1. */
ssize_t record_find_name(const struct record *record, const char *name);
/* False when the row has no value there. */
bool record_value(const struct record *record, size_t row, size_t column, int64_t *ret_value);

#endif
