/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/step.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "guest-agent/spawn.h"

/* Of one output; what goes beyond is read and dropped, and said to be. */
#define OUTPUT_MAX (128ll << 20)
#define CHUNK 65536   /* what a pipe holds */
#define REAP_MS 10000 /* after SIGKILL, before a process counts as unkillable */
#define REAP_POLL_MS 10

struct output {
	int fd; /* -1: at its end */
	char *stream;
	int64_t offset;
	bool capped;
};

struct running {
	struct agent *agent;
	const struct job_step *step;
	pid_t pid;
	bool exited;
	uint64_t deadline;
	struct output outputs[2];
	struct message_step result;
};

static void send_output(struct running *r, struct output *out, const char *data, size_t len)
{
	progress_add_bytes(&r->agent->progress, len);
	if (out->offset + (int64_t)len > OUTPUT_MAX) {
		if (!out->capped)
			agent_log(r->agent, "warn", "%s is cut after %lld bytes", out->stream,
				  (long long)out->offset);
		out->capped = true;
		return;
	}
	agent_send(r->agent,
		   message_make_data(out->stream, out->offset, (int64_t)lab_now_ns(), data, len));
	out->offset += (int64_t)len;
}

/* Reads what is there; true when something came. */
static bool read_output(struct running *r, struct output *out)
{
	static char chunk[CHUNK];
	ssize_t n;

	if (out->fd < 0)
		return false;
	n = read(out->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close(out->fd);
		out->fd = -1;
		return false;
	}
	send_output(r, out, chunk, (size_t)n);
	return true;
}

/* Collects what ended. Returns how many processes, the step's own program aside. */
static int64_t reap(struct running *r)
{
	struct rusage ru;
	int64_t others = 0;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &ru)) > 0) {
		if (pid != r->pid || r->exited) {
			others++;
			continue;
		}
		r->exited = true;
		r->result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		r->result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		r->result.user_ns = (int64_t)ru.ru_utime.tv_sec * 1000000000 +
				    (int64_t)ru.ru_utime.tv_usec * 1000;
		r->result.system_ns = (int64_t)ru.ru_stime.tv_sec * 1000000000 +
				      (int64_t)ru.ru_stime.tv_usec * 1000;
		r->result.maxrss_kb = ru.ru_maxrss;
	}
	return others;
}

static void poll_once(struct running *r, int timeout_ms)
{
	struct pollfd fds[2] = {{r->outputs[0].fd, POLLIN, 0}, {r->outputs[1].fd, POLLIN, 0}};

	agent_poll(r->agent, fds, 2, timeout_ms);
	for (int i = 0; i < 2; i++) {
		if (fds[i].revents)
			read_output(r, &r->outputs[i]);
	}
}

static void wait_for_exit(struct running *r)
{
	for (;;) {
		reap(r);
		if (r->exited)
			return;
		if (r->agent->stop || (r->deadline && lab_now_ms() >= r->deadline)) {
			r->result.timed_out = !r->agent->stop;
			return;
		}
		poll_once(r, lab_deadline_left(r->deadline));
	}
}

/* Whether we have a child, ended or not; it stays to be reaped. */
static bool have_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Kills what is left and waits until it is gone. */
static void clear_away(struct running *r)
{
	uint64_t deadline = lab_deadline_in(REAP_MS);

	reap(r); /* those that ended by themselves are no leftover */
	while (have_children()) {
		spawn_kill_all(r->agent->init, r->pid);
		poll_once(r, REAP_POLL_MS);
		r->result.leftover += reap(r);
		if (!lab_deadline_left(deadline)) {
			agent_log(r->agent, "error", "step %s left processes that cannot be killed",
				  r->step->name);
			break;
		}
	}
}

/* Nobody holds the pipes' other ends any more: what is in them is all there is. */
static void drain(struct running *r)
{
	for (int i = 0; i < 2; i++) {
		struct output *out = &r->outputs[i];

		if (out->fd < 0)
			continue;
		fcntl(out->fd, F_SETFL, O_NONBLOCK);
		while (read_output(r, out))
			;
		if (out->fd >= 0)
			close(out->fd);
		out->fd = -1;
	}
}

static bool verdict(const struct message_step *result, char *why, size_t size)
{
	if (result->error)
		snprintf(why, size, "%s", result->error);
	else if (result->timed_out)
		snprintf(why, size, "timed out after %lld ms",
			 (long long)(result->wall_ns / 1000000));
	else if (result->signal)
		snprintf(why, size, "killed by signal %d (%s)", (int)result->signal,
			 strsignal((int)result->signal));
	else if (result->exit_code != 0)
		snprintf(why, size, "exit code %d", (int)result->exit_code);
	else
		return true;
	return false;
}

bool step_run(struct agent *agent, const char *phase, const struct job_step *step, char *why,
	      size_t why_size)
{
	struct running r = {.agent = agent, .step = step};
	struct lab_error err;
	struct spawned child;
	uint64_t begin = lab_now_ns();

	r.result = (struct message_step){
		.phase = phase, .step = step->name, .t_ns = (int64_t)begin, .exit_code = -1};
	agent_send(agent, message_make_step(&r.result));
	if (spawn_step(&agent->job, step, &child, &err) < 0) {
		r.result.error = err.text;
	} else {
		r.pid = child.pid;
		r.deadline = lab_deadline_in(step->timeout_ms);
		r.outputs[0] = (struct output){
			.fd = child.out, .stream = lab_asprintf("%s/%s/stdout", phase, step->name)};
		r.outputs[1] = (struct output){
			.fd = child.err, .stream = lab_asprintf("%s/%s/stderr", phase, step->name)};
		wait_for_exit(&r);
		r.result.wall_ns = (int64_t)(lab_now_ns() - begin);
		clear_away(&r);
		drain(&r);
	}
	r.result.end = true;
	r.result.t_ns = (int64_t)lab_now_ns();
	agent_send(agent, message_make_step(&r.result));
	free(r.outputs[0].stream);
	free(r.outputs[1].stream);
	return verdict(&r.result, why, why_size);
}
