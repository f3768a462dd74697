/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "guest-agent/hello.h"
#include "guest-agent/init.h"
#include "guest-agent/job_run.h"

#define BEAT_MS 1000
#define FDS_MAX 4

int agent_init(struct agent *agent, struct lab_error *err)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	agent->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (agent->signal_fd < 0)
		return lab_error_errno(err, errno, "signalfd");
	agent->decoder = frame_decoder_new();
	return 0;
}

void agent_release(struct agent *agent)
{
	channel_close(&agent->channel);
	frame_decoder_free(agent->decoder);
	if (agent->signal_fd >= 0)
		close(agent->signal_fd);
	sampler_release(&agent->sampler);
	lab_strv_release(&agent->missing);
	job_release(&agent->job);
}

void agent_say(const struct agent *agent, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	if (agent->console < 0)
		return;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= 0)
		dprintf(agent->console, "labctl-agent: %s\n", text);
}

/* Says it once; from now on messages go nowhere. */
static void lose_channel(struct agent *agent, const char *why)
{
	if (agent->cut)
		return;
	agent->cut = true;
	agent->stop = true;
	agent_say(agent, "channel lost: %s", why);
}

static void send_frame(struct agent *agent, const struct lab_buf *frame)
{
	struct lab_error err;

	if (!agent->cut && channel_write(&agent->channel, frame->data, frame->len, &err) < 0)
		lose_channel(agent, err.text);
}

void agent_send(struct agent *agent, json_t *msg)
{
	LAB_CLEANUP(buf) struct lab_buf frame = LAB_BUF_INIT;
	struct lab_error err;

	if (!agent->cut && frame_encode(msg, &frame, &err) < 0)
		agent_say(agent, "%s", err.text);
	else
		send_frame(agent, &frame);
	json_decref(msg);
}

void agent_send_text(struct agent *agent, const struct lab_buf *text)
{
	LAB_CLEANUP(buf) struct lab_buf frame = LAB_BUF_INIT;
	struct lab_error err;

	if (!agent->cut && frame_encode_text(text->data, text->len, &frame, &err) < 0)
		agent_say(agent, "%s", err.text);
	else
		send_frame(agent, &frame);
}

void agent_log(struct agent *agent, const char *level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (agent->init && strcmp(level, "info") != 0)
		agent_say(agent, "%s", text);
	agent_send(agent, message_make_log((int64_t)lab_now_ns(), level, text));
}

void agent_missing(struct agent *agent, const char *what, const char *why)
{
	if (lab_strv_has(&agent->missing, what))
		return;
	lab_strv_add(&agent->missing, what);
	agent_send(agent, message_make_unavailable(what, why));
}

static void answer_job(struct agent *agent, const struct message_request *request)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	struct lab_error err;

	if (agent->has_job) {
		agent_send(agent, message_make_reply(request->id, MESSAGE_ERR_BUSY,
						     "this machine has had its job"));
		return;
	}
	if (job_from_json(request->job, &job, &err) < 0 || job_run_check(&job, &err) < 0) {
		agent_send(agent, message_make_reply(request->id, MESSAGE_ERR_JOB, err.text));
		return;
	}
	agent->job = job;
	job = (struct job)JOB_INIT;
	agent->has_job = agent->job_waits = true;
	agent_send(agent, message_make_reply(request->id, NULL, NULL));
}

/* Exactly one reply, whatever came. */
static void answer(struct agent *agent, const json_t *msg)
{
	struct message m;
	struct lab_error err;

	if (message_read(msg, &m, &err) < 0) {
		json_int_t id = json_integer_value(json_object_get(msg, "id"));

		agent_send(agent,
			   message_make_reply(id > 0 ? id : 0, MESSAGE_ERR_REQUEST, err.text));
	} else if (m.type != MESSAGE_REQUEST) {
		agent_send(agent, message_make_reply(0, MESSAGE_ERR_REQUEST, "not a request"));
	} else if (strcmp(m.u.request.op, "ping") == 0) {
		agent_send(agent, message_make_reply(m.u.request.id, NULL, NULL));
	} else if (strcmp(m.u.request.op, "job") == 0) {
		answer_job(agent, &m.u.request);
	} else if (strcmp(m.u.request.op, "poweroff") == 0) {
		agent_send(agent, message_make_reply(m.u.request.id, NULL, NULL));
		agent->stop = true;
	} else {
		agent_send(agent, message_make_reply(m.u.request.id, MESSAGE_ERR_REQUEST,
						     "no such operation"));
	}
}

static void take_requests(struct agent *agent)
{
	char chunk[16384];
	struct lab_error err;
	json_t *msg;
	ssize_t n = read(agent->channel.in, chunk, sizeof(chunk));
	int rc = 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		lose_channel(agent, n < 0 ? strerror(errno) : "closed by the host");
		return;
	}
	if (frame_decoder_feed(agent->decoder, chunk, (size_t)n, &err) < 0)
		rc = -1;
	while (rc == 0 && (rc = frame_decoder_next(agent->decoder, &msg, &err)) > 0) {
		answer(agent, msg);
		json_decref(msg);
		rc = 0;
	}
	if (rc < 0 && !agent->stop) {
		/* Where the next frame would begin cannot be known: this channel is over. */
		agent_send(agent, message_make_reply(0, MESSAGE_ERR_REQUEST, err.text));
		lose_channel(agent, err.text);
	}
}

static void take_signals(struct agent *agent)
{
	struct signalfd_siginfo info;

	while (read(agent->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		/* Not as PID 1: there it is a workload's wish to shut down, and not its to have. */
		if (info.ssi_signo == SIGTERM && !agent->init)
			agent->stop = true;
	}
}

static void do_due(struct agent *agent)
{
	uint64_t now = lab_now_ms();

	if (now >= agent->next_beat_ms) {
		agent->next_beat_ms = now + BEAT_MS;
		agent_send(agent,
			   message_make_heartbeat((int64_t)lab_now_ns(),
						  progress_read(&agent->progress, agent->sysroot)));
	}
	sampler_tick(&agent->sampler, agent, now);
}

static int soonest(const struct agent *agent, int timeout_ms)
{
	uint64_t due = agent->next_beat_ms;
	int left;

	if (agent->sampler.next_ms && agent->sampler.next_ms < due)
		due = agent->sampler.next_ms;
	left = lab_deadline_left(due);
	return timeout_ms >= 0 && timeout_ms < left ? timeout_ms : left;
}

void agent_poll(struct agent *agent, struct pollfd *fds, size_t n, int timeout_ms)
{
	struct pollfd all[FDS_MAX + 2] = {
		{agent->cut ? -1 : agent->channel.in, POLLIN, 0},
		{agent->signal_fd, POLLIN, 0},
	};

	if (n > FDS_MAX)
		n = FDS_MAX;
	if (n)
		memcpy(all + 2, fds, n * sizeof(*fds));
	if (poll(all, n + 2, soonest(agent, timeout_ms)) < 0)
		memset(all, 0, sizeof(all)); /* EINTR: nothing is known to be ready */
	if (n)
		memcpy(fds, all + 2, n * sizeof(*fds));
	if (all[1].revents)
		take_signals(agent);
	if (all[0].revents)
		take_requests(agent);
	do_due(agent);
}

/* A job that came with the machine; what is wrong with it is its end. */
static void take_job_file(struct agent *agent)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_auto_t *json = NULL;
	struct lab_error err;

	if (!agent->job_file)
		return;
	if (lab_read_file(agent->job_file, FRAME_MAX, &text, &err) == 0) {
		json = json_loadb(text.data ? text.data : "", text.len, 0, NULL);
		if (job_from_json(json, &agent->job, &err) == 0 &&
		    job_run_check(&agent->job, &err) == 0) {
			agent->has_job = agent->job_waits = true;
			return;
		}
	}
	agent_send(agent, message_make_done((int64_t)lab_now_ns(), MESSAGE_ERR_JOB, err.text));
	agent->stop = true;
}

void agent_run(struct agent *agent)
{
	agent_send(agent, hello_make(agent->sysroot));
	agent->next_beat_ms = lab_now_ms() + BEAT_MS;
	if (agent->init)
		init_settle(agent);
	take_job_file(agent);
	while (!agent->stop) {
		if (agent->job_waits) {
			agent->job_waits = false;
			job_run(agent, &agent->job);
			/* Nobody is there who could ask for more. */
			agent->stop = agent->stop || agent->job_file;
			continue;
		}
		agent_poll(agent, NULL, 0, -1);
		/* Orphans of no step: PID 1 is everybody's parent. */
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}
