/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_PROTOCOL_MESSAGE_H
#define LAB_PROTOCOL_MESSAGE_H

/*
 * The messages between host and agent. Each is one frame; "type" names it.
 *
 *   host  -> agent   request: ping, job, poweroff; each gets exactly one reply
 *   agent -> host    hello first, then replies, and unsolicited all the others
 *
 * A reply to "job" says that the job was understood and begins; how it ended comes
 * later as "done". Times `t_ns` are the guest's CLOCK_MONOTONIC.
 *
 * Makers return a new reference (out of memory aborts) and mend strings that are
 * not UTF-8. message_read is strict: types, ranges and sizes of all fields it
 * knows; a field it does not know is ignored, a type it does not know gives
 * MESSAGE_UNKNOWN, so that a newer agent can say more.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "common/buf.h"
#include "common/err.h"

#define MESSAGE_PROTOCOL 1
#define MESSAGE_CHANNEL "org.labctl.agent.0" /* name of the virtio port */
#define MESSAGE_DATA_MAX (256u << 10)	     /* bytes in one data message */
#define MESSAGE_NAMES_MAX 8192		     /* length of a run's series name table */
#define MESSAGE_TEXT_MAX 4096		     /* longest single string outside data */
#define MESSAGE_ABSENT INT64_MIN	     /* a series value that was not there */

enum message_type {
	MESSAGE_UNKNOWN,
	MESSAGE_HELLO,
	MESSAGE_REQUEST,
	MESSAGE_REPLY,
	MESSAGE_PHASE,
	MESSAGE_STEP,
	MESSAGE_DATA,
	MESSAGE_NAMES,
	MESSAGE_SERIES,
	MESSAGE_UNAVAILABLE,
	MESSAGE_HEARTBEAT,
	MESSAGE_LOG,
	MESSAGE_DONE,
};

/* Names of errors in reply and done. */
#define MESSAGE_ERR_REQUEST "bad-request" /* not a request, or an operation we do not know */
#define MESSAGE_ERR_JOB "bad-job"	  /* the job does not mean anything */
#define MESSAGE_ERR_BUSY "busy"		  /* a job was given before */
#define MESSAGE_ERR_DISK "disk" /* a disk is not there, or not of the size it should have */
#define MESSAGE_ERR_MOUNT "mount"
#define MESSAGE_ERR_SWAP "swap"
#define MESSAGE_ERR_SETTING "setting"	/* a setting was refused */
#define MESSAGE_ERR_WORKLOAD "workload" /* a step failed */
#define MESSAGE_ERR_AGENT "agent"	/* anything else */

struct message_hello {
	int64_t protocol;
	const char *agent;	     /* version and build id of the agent: "0.1.0+1f2e..." */
	const char *boot_id;	     /* /proc/sys/kernel/random/boot_id */
	const char *kernel_build_id; /* GNU build id in hex, "" when /sys/kernel/notes has none */
	const char *kernel_release;
	int64_t t_ns; /* since boot, about */
};

struct message_request {
	int64_t id;	   /* chosen by the host, 1 or more */
	const char *op;	   /* "ping", "job", "poweroff" or one we do not know */
	const json_t *job; /* with "job" */
};

struct message_reply {
	int64_t id; /* of the request; 0 when it could not be read */
	bool ok;
	const char *error; /* MESSAGE_ERR_..., NULL when ok */
	const char *text;
};

struct message_phase {
	const char *phase;
	bool end;
	int64_t t_ns;
};

struct message_step {
	const char *phase;
	const char *step;
	bool end;
	int64_t t_ns;
	/* The rest only with `end`. */
	int64_t exit_code; /* -1 when a signal ended it or it could not be started */
	int64_t signal;	   /* or 0 */
	bool timed_out;
	const char *error; /* why it could not be started, or NULL */
	int64_t wall_ns;
	int64_t user_ns, system_ns; /* of the program and what it waited for */
	int64_t maxrss_kb;
	int64_t leftover; /* children that were still there and were killed */
};

struct message_data {
	const char *stream; /* "PHASE/STEP/stdout", "PHASE/STEP/stderr", "snapshot/WHEN/NAME" */
	int64_t offset;	    /* of the first byte in its stream */
	int64_t t_ns;
	const char *base64; /* well-formed base64 is checked when it is decoded */
	size_t base64_len;
};

struct message_names {
	int64_t first;	     /* index in the table of the first name here */
	const json_t *names; /* array of strings, checked */
};

enum message_mark { MESSAGE_MARK_NONE, MESSAGE_MARK_BEFORE, MESSAGE_MARK_AFTER };

struct message_series {
	int64_t t_ns;
	enum message_mark mark; /* the row before or after the run phase */
	/*
	 * Array of one integer for each name of the table: the difference to the last value
	 * that was there (to 0 at first), or null where there is none now. Checked.
	 */
	const json_t *deltas;
};

struct message_unavailable {
	const char *what; /* "psi.memory", "snapshot.zoneinfo" */
	const char *why;
};

struct message_heartbeat {
	int64_t t_ns;
	/* Grows as the workload gets on: bytes it wrote plus microseconds of CPU time it used. */
	int64_t progress;
};

struct message_log {
	int64_t t_ns;
	const char *level; /* "info", "warn", "error" */
	const char *text;
};

struct message_done {
	int64_t t_ns;
	bool ok;
	const char *error; /* MESSAGE_ERR_..., NULL when ok */
	const char *text;
};

/* What message_read yields. All pointers are borrowed from the JSON. */
struct message {
	enum message_type type;
	union {
		struct message_hello hello;
		struct message_request request;
		struct message_reply reply;
		struct message_phase phase;
		struct message_step step;
		struct message_data data;
		struct message_names names;
		struct message_series series;
		struct message_unavailable unavailable;
		struct message_heartbeat heartbeat;
		struct message_log log;
		struct message_done done;
	} u;
};

int message_read(const json_t *json, struct message *ret_message,
		 struct lab_error *err) LAB_MUST_CHECK;
const char *message_type_name(enum message_type type);

/* Appends the bytes of a data message to out; out is as it was on failure. */
int message_data_bytes(const struct message_data *data, struct lab_buf *out,
		       struct lab_error *err) LAB_MUST_CHECK;

/* Requests, by the host. `job` is the value of job_to_json; its reference is not taken. */
json_t *message_make_request(int64_t id, const char *op, json_t *job);

/* The agent's. */
json_t *message_make_hello(const struct message_hello *hello);
/* error NULL: ok. */
json_t *message_make_reply(int64_t id, const char *error, const char *text);
json_t *message_make_phase(const struct message_phase *phase);
json_t *message_make_step(const struct message_step *step);
/* len at most MESSAGE_DATA_MAX. */
json_t *message_make_data(const char *stream, int64_t offset, int64_t t_ns, const void *data,
			  size_t len);
json_t *message_make_names(int64_t first, const char *const *names, size_t n);
/*
 * Appends a series message as text, without a tree of JSON: it is made while the workload
 * runs, which pays for it. `deltas` of MESSAGE_ABSENT become null.
 */
void message_series_text(int64_t t_ns, enum message_mark mark, const int64_t *deltas, size_t n,
			 struct lab_buf *out);
json_t *message_make_unavailable(const char *what, const char *why);
json_t *message_make_heartbeat(int64_t t_ns, int64_t progress);
json_t *message_make_log(int64_t t_ns, const char *level, const char *text);
json_t *message_make_done(int64_t t_ns, const char *error, const char *text);

#endif
