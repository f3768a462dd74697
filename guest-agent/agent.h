/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_AGENT_H
#define LAB_GUEST_AGENT_H

/*
 * The agent's state and its one event loop. It has one thread: whatever it waits
 * for, it waits in agent_poll, which also answers requests, beats and samples.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "guest-agent/channel.h"
#include "guest-agent/progress.h"
#include "guest-agent/sampler.h"
#include "protocol/frame.h"
#include "protocol/job.h"

struct agent {
	const char *sysroot; /* in front of /proc and /sys; "" for the machine's own */
	bool init;	     /* we are PID 1 of a machine of our own */
	struct channel channel;
	struct frame_decoder *decoder;
	int signal_fd; /* SIGCHLD and SIGTERM */
	int console;   /* where agent_say writes */
	bool stop;     /* end as soon as may be: what runs is killed */
	bool cut;      /* nobody hears us any more */
	uint64_t next_beat_ms;
	struct progress progress;
	struct sampler sampler;
	struct lab_strv missing; /* what was said to be unavailable */
	const char *job_file;	 /* the job is in this file, nobody sends one; or NULL */
	bool has_job;		 /* one was accepted, now or before */
	bool job_waits;
	struct job job;
};

/* Opens what the agent needs beside its channel. */
int agent_init(struct agent *agent, struct lab_error *err) LAB_MUST_CHECK;
void agent_release(struct agent *agent);

/* Sends a message and drops its reference. A channel that fails sets ->cut and ->stop. */
void agent_send(struct agent *agent, json_t *msg);
/* Sends a message that is text already. */
void agent_send_text(struct agent *agent, const struct lab_buf *text);
/* A log message; warnings and errors also appear on the console. */
void agent_log(struct agent *agent, const char *level, const char *fmt, ...) LAB_PRINTF(3, 4);
/* Says once that something cannot be collected. */
void agent_missing(struct agent *agent, const char *what, const char *why);
/* One line on the console only. */
void agent_say(const struct agent *agent, const char *fmt, ...) LAB_PRINTF(2, 3);

/*
 * Waits until one of `fds` (at most 4) is ready, a child changed, or timeout_ms
 * passed (-1: never). Meanwhile answers requests and does what is due.
 */
void agent_poll(struct agent *agent, struct pollfd *fds, size_t n, int timeout_ms);

/* From hello to power off: answers, runs the job when it comes. */
void agent_run(struct agent *agent);

#endif
