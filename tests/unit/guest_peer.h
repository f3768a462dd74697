/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_TESTS_GUEST_PEER_H
#define LAB_TESTS_GUEST_PEER_H

/*
 * The host's side for tests: the real agent as a process on a socket pair, and a
 * record of all it says. Include after cmocka.h.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "protocol/frame.h"
#include "protocol/job.h"
#include "protocol/message.h"
#include "protocol/record.h"

#define SYSROOT TESTS_DIR "/data/sysroot"
#define PATIENCE_MS 20000 /* for anything that should come at once */

struct peer {
	pid_t pid;
	int fd;
	struct frame_decoder *decoder;
	struct record record;
	int64_t next_id;
	int replies;
	int beats;
};

/* $LABCTL_AGENT, or what was built beside this test; sanitized if that exists. */
static inline char *agent_path(void)
{
	static const char *const names[] = {"labctl-agent-sanitized", "labctl-agent"};
	char self[4096];
	ssize_t len;

	if (getenv("LABCTL_AGENT"))
		return lab_strdup(getenv("LABCTL_AGENT"));
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(len > 0);
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < LAB_COUNT(names); i++) {
		LAB_CLEANUP(free)
		char *path = lab_asprintf("%s/../libexec/labctl/%s", self, names[i]);

		if (lab_file_exists(path))
			return LAB_TAKE(path);
	}
	fail_msg("no agent beside %s", self);
	return NULL;
}

static inline void start_in(struct peer *peer, const char *sysroot)
{
	LAB_CLEANUP(free) char *path = agent_path();
	char channel[16];
	int fds[2];

	*peer = (struct peer){.next_id = 1, .decoder = frame_decoder_new()};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	snprintf(channel, sizeof(channel), "fd:%d", fds[1]);
	peer->fd = fds[0];
	peer->pid = fork();
	assert_true(peer->pid >= 0);
	if (peer->pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		fcntl(fds[1], F_SETFD, 0);
		dup2(null, STDERR_FILENO);
		execl(path, path, "--channel", channel, "--no-init", "--sysroot", sysroot, NULL);
		_exit(127);
	}
	close(fds[1]);
}

static inline void send_bytes(struct peer *peer, const void *data, size_t len)
{
	assert_int_equal(lab_write_all(peer->fd, data, len, NULL), 0);
}

static inline void send_msg(struct peer *peer, json_t *msg)
{
	LAB_CLEANUP(buf) struct lab_buf frame = LAB_BUF_INIT;

	assert_int_equal(frame_encode(msg, &frame, NULL), 0);
	send_bytes(peer, frame.data, frame.len);
	json_decref(msg);
}

/* The next message, or NULL when the agent has closed. Everything also goes into the record. */
static inline json_t *next(struct peer *peer)
{
	uint64_t deadline = lab_deadline_in(PATIENCE_MS);
	struct lab_error err = {0};
	char chunk[65536];
	json_t *msg;
	int rc;

	while ((rc = frame_decoder_next(peer->decoder, &msg, &err)) == 0) {
		struct pollfd p = {peer->fd, POLLIN, 0};
		ssize_t n;

		if (poll(&p, 1, lab_deadline_left(deadline)) <= 0)
			fail_msg("the agent says nothing");
		n = read(peer->fd, chunk, sizeof(chunk));
		if (n <= 0)
			return NULL;
		assert_int_equal(frame_decoder_feed(peer->decoder, chunk, (size_t)n, NULL), 0);
	}
	if (rc < 0 || record_feed(&peer->record, msg, &err) < 0)
		fail_msg("%s", err.text);
	return msg;
}

/* Reads on to a message of this type; the caller drops it. */
static inline json_t *wait_for(struct peer *peer, enum message_type type, struct message *ret)
{
	for (;;) {
		json_t *msg = next(peer);

		if (!msg)
			fail_msg("closed before %s", message_type_name(type));
		assert_int_equal(message_read(msg, ret, NULL), 0);
		peer->replies += ret->type == MESSAGE_REPLY;
		peer->beats += ret->type == MESSAGE_HEARTBEAT;
		if (ret->type == type)
			return msg;
		json_decref(msg);
	}
}

static inline void expect_reply(struct peer *peer, int64_t id, const char *error, const char *text)
{
	struct message m;
	json_t *msg = wait_for(peer, MESSAGE_REPLY, &m);

	assert_int_equal(m.u.reply.id, id);
	assert_int_equal(m.u.reply.ok, !error);
	if (error) {
		assert_string_equal(m.u.reply.error, error);
		if (!strstr(m.u.reply.text, text))
			fail_msg("'%s' is not in '%s'", text, m.u.reply.text);
	}
	json_decref(msg);
}

static inline void ask(struct peer *peer, const char *op, json_t *job)
{
	send_msg(peer, message_make_request(peer->next_id++, op, job));
}

static inline void ping(struct peer *peer)
{
	int64_t id = peer->next_id;

	ask(peer, "ping", NULL);
	expect_reply(peer, id, NULL, NULL);
}

/* Waits for the end of the agent's process; its exit code. */
static inline int exit_code(struct peer *peer)
{
	uint64_t deadline = lab_deadline_in(PATIENCE_MS);
	int status;

	while (waitpid(peer->pid, &status, WNOHANG) == 0) {
		if (!lab_deadline_left(deadline)) {
			kill(peer->pid, SIGKILL);
			waitpid(peer->pid, &status, 0);
			fail_msg("the agent does not end");
		}
		lab_sleep_ms(2);
	}
	peer->pid = 0;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static inline int start(void **state)
{
	struct peer *peer = LAB_NEW(struct peer);
	struct message m;

	*state = peer;
	start_in(peer, SYSROOT);
	json_decref(wait_for(peer, MESSAGE_HELLO, &m));
	return 0;
}

static inline int stop(void **state)
{
	struct peer *peer = *state;

	close(peer->fd);
	if (peer->pid > 0) {
		kill(peer->pid, SIGKILL);
		waitpid(peer->pid, NULL, 0);
	}
	frame_decoder_free(peer->decoder);
	record_release(&peer->record);
	free(peer);
	return 0;
}

static inline void new_job(struct job *job)
{
	*job = (struct job)JOB_INIT;
	job->run = lab_strdup("7.41");
	job->seed = 99;
}

static inline struct job_step *add_sh(struct job_phase *phase, const char *name, const char *script)
{
	const char *argv[] = {"sh", "-c", script, NULL};

	return job_phase_add_step(phase, name, argv, PATIENCE_MS);
}

/* Sends the job and returns when it begins. */
static inline void give_job(struct peer *peer, const struct job *job)
{
	int64_t id = peer->next_id;
	struct lab_error err = {0};
	json_t *json;

	if (job_to_json(job, &json, &err) < 0)
		fail_msg("%s", err.text);
	ask(peer, "job", json);
	json_decref(json);
	expect_reply(peer, id, NULL, NULL);
}

static inline void run_job(struct peer *peer, struct job *job)
{
	struct message m;

	give_job(peer, job);
	json_decref(wait_for(peer, MESSAGE_DONE, &m));
	job_release(job);
}

static inline void run_one(struct peer *peer, const char *script)
{
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", script);
	run_job(peer, &job);
}

static inline const char *output(struct peer *peer, const char *phase, const char *step,
				 const char *which)
{
	const struct lab_buf *out = record_find_output(&peer->record, phase, step, which);

	return out && out->data ? out->data : "";
}

static inline bool process_lives(uint64_t pid)
{
	return kill((pid_t)pid, 0) == 0;
}

#endif
