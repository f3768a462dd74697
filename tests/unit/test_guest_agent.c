/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real agent as a process: hello, requests, channels, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/num.h"
#include "common/proc.h"
#include "tests/unit/guest_peer.h"

static void test_hello(void **state)
{
	struct peer *peer = *state;

	assert_int_equal(peer->record.hello.protocol, MESSAGE_PROTOCOL);
	assert_string_equal(peer->record.hello.kernel_build_id,
			    "d4494193cf97e2ce5c6d6805c1591d0ced623fc1");
	assert_string_equal(peer->record.hello.boot_id, "4f1181ea-caa3-41ad-a17d-eca7fa93c7b8");
	assert_int_equal(strlen(strchr(peer->record.hello.agent, '+')), 41);
	ping(peer);
	ping(peer);
}

/* Each request gets its one reply, also in the middle of a step. */
static void test_requests_meanwhile(void **state)
{
	struct peer *peer = *state;
	struct message m;
	struct job job;
	json_t *json;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", "sleep 0.5");
	give_job(peer, &job);
	for (int i = 0; i < 20; i++)
		ping(peer);
	assert_int_equal(job_to_json(&job, &json, NULL), 0);
	ask(peer, "job", json);
	json_decref(json);
	expect_reply(peer, peer->next_id - 1, MESSAGE_ERR_BUSY, "has had its job");
	assert_false(peer->record.done);
	json_decref(wait_for(peer, MESSAGE_DONE, &m));
	ping(peer);
	assert_int_equal(peer->replies, 23);
	job_release(&job);
}

static void test_bad_requests(void **state)
{
	struct peer *peer = *state;
	struct job job;
	json_t *json;

	send_msg(peer, json_pack("{s:s}", "type", "nonsense"));
	expect_reply(peer, 0, MESSAGE_ERR_REQUEST, "not a request");
	send_msg(peer, json_pack("{s:s,s:i}", "type", "request", "id", 5));
	expect_reply(peer, 5, MESSAGE_ERR_REQUEST, "\"op\" is missing");
	send_msg(peer, json_pack("{s:i}", "id", -5));
	expect_reply(peer, 0, MESSAGE_ERR_REQUEST, "\"type\" is missing");
	send_msg(peer, message_make_done(1, NULL, NULL));
	expect_reply(peer, 0, MESSAGE_ERR_REQUEST, "not a request");
	ask(peer, "dance", NULL);
	expect_reply(peer, 1, MESSAGE_ERR_REQUEST, "no such operation");
	json = json_object();
	ask(peer, "job", json);
	json_decref(json);
	expect_reply(peer, 2, MESSAGE_ERR_JOB, "\"run\" is missing");
	new_job(&job);
	lab_strv_add(&job.collect.series, "horoscope");
	assert_int_equal(job_to_json(&job, &json, NULL), 0);
	ask(peer, "job", json);
	json_decref(json);
	job_release(&job);
	expect_reply(peer, 3, MESSAGE_ERR_JOB, "no series 'horoscope'");
	/* Nothing of this was its job: it still takes one. */
	run_one(peer, "echo fine");
	assert_true(peer->record.ok);
}

static void test_garbage(void **state)
{
	struct peer *peer = *state;

	send_bytes(peer, "GET / HTTP/1.0\r\n\r\n", 18);
	expect_reply(peer, 0, MESSAGE_ERR_REQUEST, "garbage");
	assert_int_equal(exit_code(peer), 1);
}

/* Host gone in the middle of a step: nothing of it stays behind. */
static void test_cut_channel(void **state)
{
	struct peer *peer = *state;
	LAB_CLEANUP(free) char *text = NULL;
	struct message m;
	struct job job;
	uint64_t pid;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", "echo $$; exec sleep 1000");
	give_job(peer, &job);
	job_release(&job);
	json_decref(wait_for(peer, MESSAGE_DATA, &m));
	text = lab_strndup(output(peer, "run", "step", "stdout"),
			   strcspn(output(peer, "run", "step", "stdout"), "\n"));
	assert_int_equal(lab_parse_u64(text, &pid, NULL), 0);
	assert_true(process_lives(pid));
	shutdown(peer->fd, SHUT_RDWR);
	assert_int_equal(exit_code(peer), 1);
	assert_false(process_lives(pid));
}

static void test_poweroff(void **state)
{
	struct peer *peer = *state;

	ask(peer, "poweroff", NULL);
	expect_reply(peer, 1, NULL, NULL);
	assert_int_equal(exit_code(peer), 0);
}

static void test_poweroff_meanwhile(void **state)
{
	struct peer *peer = *state;
	struct message m;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", "echo $$; exec sleep 1000");
	add_sh(job_add_phase(&job, JOB_PHASE_CLEANUP), "sweep", "true");
	give_job(peer, &job);
	job_release(&job);
	json_decref(wait_for(peer, MESSAGE_DATA, &m));
	ask(peer, "poweroff", NULL);
	expect_reply(peer, 2, NULL, NULL);
	json_decref(wait_for(peer, MESSAGE_DONE, &m));
	assert_string_equal(peer->record.error, MESSAGE_ERR_AGENT);
	assert_int_equal(record_find_step(&peer->record, "run", "step")->signal, SIGKILL);
	assert_false(record_find_step(&peer->record, "run", "step")->timed_out);
	assert_int_equal(exit_code(peer), 0);
}

static void test_heartbeat(void **state)
{
	struct peer *peer = *state;
	struct message m;
	int64_t t_ns;

	json_decref(wait_for(peer, MESSAGE_HEARTBEAT, &m));
	t_ns = m.u.heartbeat.t_ns;
	assert_int_equal(m.u.heartbeat.progress, 0);
	run_one(peer, "head -c 5000 /dev/zero; sleep 1.2");
	assert_true(peer->beats >= 2);
	/* The recorded CPU counters stand still: what was written is all the progress there is. */
	assert_int_equal(peer->record.progress, 5000);
	assert_in_range(peer->record.heartbeat_ns - t_ns, 900000000, 10000000000);
}

/* Starts the agent with other channels; `fd` becomes its 0 and 1. */
static pid_t start_with(const char *channel, int fd)
{
	LAB_CLEANUP(free) char *path = agent_path();
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	if (fd >= 0) {
		dup2(fd, STDIN_FILENO);
		dup2(fd, STDOUT_FILENO);
	}
	execl(path, path, "--no-init", "--channel", channel, "--sysroot", SYSROOT, NULL);
	_exit(127);
}

/* Hello, a job whose output does not get in the way, power off. */
static void check_session(pid_t pid, int fd)
{
	struct peer peer = {.pid = pid, .fd = fd, .next_id = 1, .decoder = frame_decoder_new()};
	struct message m;

	json_decref(wait_for(&peer, MESSAGE_HELLO, &m));
	run_one(&peer, "echo to stdout");
	assert_string_equal(output(&peer, "run", "step", "stdout"), "to stdout\n");
	ask(&peer, "poweroff", NULL);
	expect_reply(&peer, 2, NULL, NULL);
	assert_int_equal(exit_code(&peer), 0);
	close(fd);
	frame_decoder_free(peer.decoder);
	record_release(&peer.record);
}

static void test_stdio_channel(void **state)
{
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	pid = start_with("stdio", fds[1]);
	close(fds[1]);
	check_session(pid, fds[0]);
}

static void test_unix_channel(void **state)
{
	char dir[] = "/tmp/labctl-test-unix-XXXXXX";
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char channel[128];
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/s", dir);
	snprintf(channel, sizeof(channel), "unix:%s/s", dir);
	assert_int_equal(bind(server, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(server, 1), 0);
	pid = start_with(channel, -1);
	fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	check_session(pid, fd);
	close(server);
	assert_int_equal(lab_remove_tree(dir, NULL), 0);
}

static void check_words(const char *option, int code, const char *out, const char *err)
{
	LAB_CLEANUP(free) char *path = agent_path();
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const char *argv[] = {path, option, NULL};

	assert_int_equal(lab_proc_run(&(struct lab_proc){.argv = argv}, &result, NULL), 0);
	assert_int_equal(result.exit_code, code);
	assert_non_null(strstr(result.out.data ? result.out.data : "", out));
	assert_non_null(strstr(result.err.data ? result.err.data : "", err));
}

static void test_command_line(void **state)
{
	(void)state;
	check_words("-h", 0, "usage: labctl-agent", "");
	check_words("--version", 0, "labctl-agent " LABCTL_VERSION "+", "");
	check_words("--no-init", 2, "", "--channel is needed");
	check_words("--channel=stdio", 2, "", "--no-init is needed");
	check_words("--nonsense", 2, "", "nonsense");
	check_words("stray", 2, "", "unexpected argument 'stray'");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(test_hello),
		TEST(test_requests_meanwhile),
		TEST(test_bad_requests),
		TEST(test_garbage),
		TEST(test_cut_channel),
		TEST(test_poweroff),
		TEST(test_poweroff_meanwhile),
		TEST(test_heartbeat),
		cmocka_unit_test(test_stdio_channel),
		cmocka_unit_test(test_unix_channel),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
