/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real agent as a process on a socket pair: what the host sees of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/proc.h"
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
static char *agent_path(void)
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

static void start_in(struct peer *peer, const char *sysroot)
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

static void send_bytes(struct peer *peer, const void *data, size_t len)
{
	assert_int_equal(lab_write_all(peer->fd, data, len, NULL), 0);
}

static void send_msg(struct peer *peer, json_t *msg)
{
	LAB_CLEANUP(buf) struct lab_buf frame = LAB_BUF_INIT;

	assert_int_equal(frame_encode(msg, &frame, NULL), 0);
	send_bytes(peer, frame.data, frame.len);
	json_decref(msg);
}

/* The next message, or NULL when the agent has closed. Everything also goes into the record. */
static json_t *next(struct peer *peer)
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
static json_t *wait_for(struct peer *peer, enum message_type type, struct message *ret)
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

static void expect_reply(struct peer *peer, int64_t id, const char *error, const char *text)
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

static void ask(struct peer *peer, const char *op, json_t *job)
{
	send_msg(peer, message_make_request(peer->next_id++, op, job));
}

static void ping(struct peer *peer)
{
	int64_t id = peer->next_id;

	ask(peer, "ping", NULL);
	expect_reply(peer, id, NULL, NULL);
}

/* Waits for the end of the agent's process; its exit code. */
static int exit_code(struct peer *peer)
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

static int start(void **state)
{
	struct peer *peer = LAB_NEW(struct peer);
	struct message m;

	*state = peer;
	start_in(peer, SYSROOT);
	json_decref(wait_for(peer, MESSAGE_HELLO, &m));
	return 0;
}

static int stop(void **state)
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

static void new_job(struct job *job)
{
	*job = (struct job)JOB_INIT;
	job->run = lab_strdup("7.41");
	job->seed = 99;
}

static struct job_step *add_sh(struct job_phase *phase, const char *name, const char *script)
{
	const char *argv[] = {"sh", "-c", script, NULL};

	return job_phase_add_step(phase, name, argv, PATIENCE_MS);
}

/* Sends the job and returns when it begins. */
static void give_job(struct peer *peer, const struct job *job)
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

static void run_job(struct peer *peer, struct job *job)
{
	struct message m;

	give_job(peer, job);
	json_decref(wait_for(peer, MESSAGE_DONE, &m));
	job_release(job);
}

static void run_one(struct peer *peer, const char *script)
{
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", script);
	run_job(peer, &job);
}

static const char *output(struct peer *peer, const char *phase, const char *step, const char *which)
{
	const struct lab_buf *out = record_find_output(&peer->record, phase, step, which);

	return out && out->data ? out->data : "";
}

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

static void test_job(void **state)
{
	struct peer *peer = *state;
	static const char *const true_[] = {"true", NULL};
	const struct record *record = &peer->record;
	struct job_phase *phase;
	struct job_step *step;
	struct job job;

	new_job(&job);
	phase = job_add_phase(&job, "prepare");
	job_phase_add_step(phase, "nothing", true_, 1000);
	phase = job_add_phase(&job, JOB_PHASE_RUN);
	step = add_sh(phase, "speak",
		      "echo out; echo err >&2; pwd; echo $A $LABCTL_RUN $LABCTL_SEED");
	step->cwd = lab_strdup("/usr");
	lab_strv_add(&step->env, "A=b c");
	add_sh(phase, "fail", "exit 3")->optional = true;
	add_sh(phase, "crash", "kill -SEGV $$")->optional = true;
	step = add_sh(phase, "absent", "");
	step->optional = true;
	lab_strv_release(&step->argv);
	lab_strv_add(&step->argv, "no-such-program");
	run_job(peer, &job);

	assert_true(record->done && record->ok);
	assert_int_equal(record->n_phases, 2);
	assert_int_equal(record->n_steps, 5);
	assert_int_equal(record_find_step(record, "prepare", "nothing")->exit_code, 0);
	assert_true(record_find_step(record, "prepare", "nothing")->wall_ns > 0);
	assert_true(record_find_step(record, "prepare", "nothing")->maxrss_kb > 0);
	assert_string_equal(output(peer, "run", "speak", "stdout"), "out\n/usr\nb c 7.41 99\n");
	assert_string_equal(output(peer, "run", "speak", "stderr"), "err\n");
	assert_int_equal(record_find_step(record, "run", "fail")->exit_code, 3);
	assert_int_equal(record_find_step(record, "run", "crash")->exit_code, -1);
	assert_int_equal(record_find_step(record, "run", "crash")->signal, SIGSEGV);
	assert_string_equal(record_find_step(record, "run", "absent")->error,
			    "start no-such-program: No such file or directory");
}

/* The first failure ends the job; only cleanup still runs. */
static void test_failure_ends_the_job(void **state)
{
	struct peer *peer = *state;
	struct job_phase *phase;
	struct job job;

	new_job(&job);
	phase = job_add_phase(&job, JOB_PHASE_RUN);
	add_sh(phase, "bad", "exit 7");
	add_sh(phase, "skipped", "true");
	add_sh(job_add_phase(&job, "more"), "skipped", "true");
	add_sh(job_add_phase(&job, JOB_PHASE_CLEANUP), "sweep", "exit 8");
	run_job(peer, &job);
	assert_true(peer->record.done && !peer->record.ok);
	assert_string_equal(peer->record.error, MESSAGE_ERR_WORKLOAD);
	assert_string_equal(peer->record.error_text, "phase run: step bad: exit code 7");
	assert_int_equal(peer->record.n_steps, 2);
	assert_non_null(record_find_step(&peer->record, JOB_PHASE_CLEANUP, "sweep"));
}

static void test_timeout(void **state)
{
	struct peer *peer = *state;
	const struct record_step *step;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "slow", "echo begun; sleep 1000; true")
		->timeout_ms = 1000;
	run_job(peer, &job);
	step = record_find_step(&peer->record, "run", "slow");
	assert_true(step->timed_out);
	assert_int_equal(step->signal, SIGKILL);
	assert_in_range(step->wall_ns, 1000000000, 10000000000);
	assert_string_equal(output(peer, "run", "slow", "stdout"), "begun\n");
	assert_non_null(strstr(peer->record.error_text, "timed out after"));
}

static bool process_lives(uint64_t pid)
{
	return kill((pid_t)pid, 0) == 0;
}

/* Background children, also those in sessions of their own, are gone when the step has ended. */
static void test_leftover(void **state)
{
	struct peer *peer = *state;
	LAB_CLEANUP(strv) struct lab_strv pids = LAB_STRV_INIT;
	uint64_t pid;

	run_one(peer, "sleep 1000 & echo $!; setsid sleep 1000 & sleep 0.2; echo $!; "
		      "(setsid sh -c 'echo $$; sleep 1000 & exec sleep 1000' &) ; sleep 1");
	lab_strv_split(&pids, output(peer, "run", "step", "stdout"), "\n");
	assert_int_equal(pids.n, 3);
	for (size_t i = 0; i < pids.n; i++) {
		assert_int_equal(lab_parse_u64(pids.items[i], &pid, NULL), 0);
		assert_false(process_lives(pid));
	}
	assert_int_equal(record_find_step(&peer->record, "run", "step")->leftover, 4);
	assert_true(peer->record.ok);
}

static void test_huge_output(void **state)
{
	struct peer *peer = *state;
	const struct lab_buf *out;

	run_one(peer, "head -c 20000000 /dev/zero; echo; echo end");
	out = record_find_output(&peer->record, "run", "step", "stdout");
	assert_int_equal(out->len, 20000005);
	assert_string_equal(out->data + 20000000, "\nend\n");
}

static void test_binary_output(void **state)
{
	struct peer *peer = *state;
	const struct lab_buf *out;

	run_one(peer, "printf '\\377\\000\\200x'");
	out = record_find_output(&peer->record, "run", "step", "stdout");
	assert_int_equal(out->len, 4);
	assert_memory_equal(out->data, "\377\0\200x", 4);
}

/* What a program finds: its own session, nothing of the agent's, no protection from OOM. */
static void test_surroundings(void **state)
{
	struct peer *peer = *state;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;

	run_one(peer, "cat; ls /proc/self/fd | tr '\\n' ' '; echo; cat /proc/self/oom_score_adj; "
		      "cut -d' ' -f6 /proc/$$/stat; echo $$; grep SigBlk /proc/self/status; "
		      "grep SigIgn /proc/self/status");
	lab_strv_split(&lines, output(peer, "run", "step", "stdout"), "\n");
	assert_int_equal(lines.n, 6);
	assert_string_equal(lines.items[0], "0 1 2 3 ");
	assert_string_equal(lines.items[1], "0");
	assert_string_equal(lines.items[2], lines.items[3]);
	assert_string_equal(lines.items[4], "SigBlk:\t0000000000000000");
	assert_string_equal(lines.items[5], "SigIgn:\t0000000000000000");
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

static void check_rows(const struct record *record)
{
	ssize_t slab = record_find_name(record, "meminfo.SReclaimable");
	int64_t value = 0;

	assert_true(slab >= 0);
	assert_true(record->n_rows >= 3);
	assert_int_equal(record->rows[0].mark, MESSAGE_MARK_BEFORE);
	assert_int_equal(record->rows[1].mark, MESSAGE_MARK_NONE);
	assert_int_equal(record->rows[record->n_rows - 1].mark, MESSAGE_MARK_AFTER);
	for (size_t i = 0; i < record->n_rows; i++)
		assert_true(record_value(record, i, (size_t)slab, &value) && value == 3772);
	assert_true(record->rows[0].t_ns >= record->phases[1].begin_ns);
	assert_true(record->rows[0].t_ns <= record->steps[1].begin_ns);
	assert_true(record->rows[record->n_rows - 1].t_ns >= record->steps[1].end_ns);
	assert_true(record->rows[record->n_rows - 1].t_ns <= record->phases[1].end_ns);
}

static void test_collect(void **state)
{
	struct peer *peer = *state;
	const struct record *record = &peer->record;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, "prepare"), "idle", "sleep 0.2"); /* not sampled */
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "idle", "sleep 0.6");
	job.collect.interval_ms = 100;
	lab_strv_add(&job.collect.series, "meminfo");
	lab_strv_add(&job.collect.series, "psi");
	lab_strv_add(&job.collect.snapshots, "cpuinfo");
	lab_strv_add(&job.collect.snapshots, "dmesg");
	run_job(peer, &job);
	check_rows(record);
	assert_true(record_find_name(record, "psi.io.some.total") >= 0);
	assert_non_null(
		strstr(record_find_snapshot(record, "before", "cpuinfo")->data, "QEMU TCG"));
	assert_non_null(record_find_snapshot(record, "after", "cpuinfo"));
	assert_null(record_find_snapshot(record, "after", "dmesg"));
	assert_int_equal(record->n_unavailable, 1);
	assert_string_equal(record->unavailable[0].name, "snapshot.dmesg");
}

/* A step shorter than the interval still has its rows before and after. */
static void test_collect_short(void **state)
{
	struct peer *peer = *state;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "short", "exit 5");
	job.collect.interval_ms = 60000;
	lab_strv_add(&job.collect.series, "loadavg");
	run_job(peer, &job);
	assert_int_equal(peer->record.n_rows, 2);
	assert_int_equal(peer->record.rows[0].mark, MESSAGE_MARK_BEFORE);
	assert_int_equal(peer->record.rows[1].mark, MESSAGE_MARK_AFTER);
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

/* A sysroot that may be written to. */
static int start_copy(void **state)
{
	static char dir[] = "/tmp/labctl-test-agent-XXXXXX";
	struct lab_proc_result result = {0};
	struct peer *peer = LAB_NEW(struct peer);
	LAB_CLEANUP(free) char *memory = NULL;
	struct message m;

	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	{
		const char *argv[] = {"cp", "-r", SYSROOT "/proc", SYSROOT "/sys", dir, NULL};

		assert_int_equal(lab_proc_must(&(struct lab_proc){.argv = argv}, &result, NULL), 0);
		lab_proc_result_release(&result);
	}
	/* A pressure file that opens and cannot be read, as with psi=0. */
	memory = lab_path_join(dir, "proc/pressure/memory");
	assert_int_equal(unlink(memory), 0);
	assert_int_equal(lab_mkdirs(memory, 0755, NULL), 0);
	start_in(peer, dir);
	*state = peer;
	json_decref(wait_for(peer, MESSAGE_HELLO, &m));
	setenv("TEST_SYSROOT", dir, 1);
	return 0;
}

static int stop_copy(void **state)
{
	if (lab_remove_tree(getenv("TEST_SYSROOT"), NULL) < 0)
		return -1;
	return stop(state);
}

static void test_settings(void **state)
{
	struct peer *peer = *state;
	LAB_CLEANUP(free)
	char *path = lab_path_join(getenv("TEST_SYSROOT"), "proc/sys/vm/swappiness");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct job job;

	new_job(&job);
	job_add_setting(&job, JOB_SYSCTL, "vm.swappiness", "17");
	job_add_setting(&job, JOB_WRITE, "/sys/kernel/mm/none", "x");
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", "true");
	run_job(peer, &job);
	assert_int_equal(lab_read_file(path, 100, &text, NULL), 0);
	assert_memory_equal(text.data, "17", 2);
	assert_false(peer->record.ok);
	assert_string_equal(peer->record.error, MESSAGE_ERR_SETTING);
	assert_string_equal(peer->record.error_text,
			    "/sys/kernel/mm/none = x: this kernel has no such setting");
	assert_int_equal(peer->record.n_steps, 0);
}

static void test_unavailable_once(void **state)
{
	struct peer *peer = *state;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", "sleep 0.3");
	job.collect.interval_ms = 50;
	lab_strv_add(&job.collect.series, "psi");
	run_job(peer, &job);
	assert_true(peer->record.n_rows >= 3);
	assert_int_equal(peer->record.n_unavailable, 1);
	assert_string_equal(peer->record.unavailable[0].name, "psi.memory");
	assert_int_equal(record_find_name(&peer->record, "psi.memory.some.total"), -1);
	assert_true(record_find_name(&peer->record, "psi.cpu.some.total") >= 0);
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
#define TEST_COPY(f) cmocka_unit_test_setup_teardown(f, start_copy, stop_copy)
	const struct CMUnitTest tests[] = {
		TEST(test_hello),
		TEST(test_job),
		TEST(test_failure_ends_the_job),
		TEST(test_timeout),
		TEST(test_leftover),
		TEST(test_huge_output),
		TEST(test_binary_output),
		TEST(test_surroundings),
		TEST(test_requests_meanwhile),
		TEST(test_bad_requests),
		TEST(test_garbage),
		TEST(test_cut_channel),
		TEST(test_poweroff),
		TEST(test_poweroff_meanwhile),
		TEST(test_collect),
		TEST(test_collect_short),
		TEST(test_heartbeat),
		TEST_COPY(test_settings),
		TEST_COPY(test_unavailable_once),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
