/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's side of an outbox, and an agent that brings its job along. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/proc.h"
#include "guest-agent/outbox.h"
#include "tests/unit/guest_peer.h"

#define BYTES (256 << 10)

static char dir[] = "/tmp/labctl-outbox-XXXXXX";

static char *blank(const char *name, off_t bytes)
{
	char *path = lab_path_join(dir, name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), bytes), 0);
	fclose(file);
	return path;
}

/* What is written in pieces of every size stands there in one piece, zeros behind it. */
static void test_pieces(void **state)
{
	LAB_CLEANUP(free) char *path = blank("pieces", BYTES);
	LAB_CLEANUP(buf) struct lab_buf all = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf read = LAB_BUF_INIT;
	static const size_t sizes[] = {1, 4095, 1, 4096, 100, 8192, 70000, 3, 65536, 4097};
	struct outbox *outbox;
	struct lab_error err;

	(void)state;
	assert_int_equal(outbox_open(path, &outbox, &err), 0);
	for (size_t i = 0; i < LAB_COUNT(sizes); i++) {
		LAB_CLEANUP(free) char *piece = lab_calloc(sizes[i], 1);

		memset(piece, 'a' + (int)i, sizes[i]);
		assert_int_equal(outbox_write(outbox, piece, sizes[i], &err), 0);
		lab_buf_add(&all, piece, sizes[i]);
		/* It is in the file now, not at the end. */
		lab_buf_consume(&read, read.len);
		assert_int_equal(lab_read_file(path, BYTES, &read, &err), 0);
		assert_memory_equal(read.data, all.data, all.len);
		for (size_t k = all.len; k < BYTES; k++)
			assert_int_equal(read.data[k], 0);
	}
	outbox_free(outbox);
}

static void test_full(void **state)
{
	LAB_CLEANUP(free) char *path = blank("full", 8192);
	LAB_CLEANUP(free) char *piece = lab_calloc(8192, 1);
	struct outbox *outbox;
	struct lab_error err;

	(void)state;
	assert_int_equal(outbox_open(path, &outbox, &err), 0);
	/* Four bytes stay free: the zeros that say "the end". */
	assert_int_equal(outbox_write(outbox, piece, 8189, &err), -1);
	assert_string_equal(err.text, "outbox: No space left on device");
	assert_int_equal(outbox_write(outbox, piece, 8188, &err), 0);
	assert_int_equal(outbox_write(outbox, piece, 1, &err), -1);
	outbox_free(outbox);
}

static int run_agent(const char *channel, const char *job)
{
	LAB_CLEANUP(free) char *agent = agent_path();
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const char *argv[] = {agent,   "--no-init", "--channel", channel, "--sysroot",
			      SYSROOT, "--job",	    job,	 NULL};
	const struct lab_proc proc = {.argv = argv, .timeout_ms = PATIENCE_MS};

	assert_int_equal(lab_proc_run(&proc, &result, NULL), 0);
	return result.exit_code;
}

static void load(const char *path, struct record *record)
{
	struct lab_error err;

	/* record_load wants a file of frames: it stops at the zeros, which it calls torn. */
	assert_int_equal(record_load(path, record, &err), 0);
}

static void test_job_file(void **state)
{
	LAB_CLEANUP(free) char *path = blank("job", BYTES);
	LAB_CLEANUP(free) char *job_path = lab_path_join(dir, "job.json");
	LAB_CLEANUP(free) char *channel = lab_asprintf("outbox:%s", path);
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	LAB_CLEANUP(free) char *text = NULL;
	json_auto_t *json = NULL;
	struct job job;

	(void)state;
	new_job(&job);
	job.wait_ns = 1000000;
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "speak", "echo hello");
	assert_int_equal(job_to_json(&job, &json, NULL), 0);
	job_release(&job);
	text = json_dumps(json, 0);
	assert_int_equal(lab_write_file(job_path, text, strlen(text), 0644, NULL), 0);
	assert_int_equal(run_agent(channel, job_path), 0);
	load(path, &record);
	assert_true(record.has_hello && record.done && record.ok);
	assert_string_equal(record_find_output(&record, "run", "speak", "stdout")->data, "hello\n");
}

static void test_bad_job(void **state)
{
	LAB_CLEANUP(free) char *path = blank("bad", BYTES);
	LAB_CLEANUP(free) char *job_path = lab_path_join(dir, "bad.json");
	LAB_CLEANUP(free) char *channel = lab_asprintf("outbox:%s", path);
	LAB_CLEANUP(record) struct record record = RECORD_INIT;

	(void)state;
	assert_int_equal(lab_write_file(job_path, "{\"run\": 7", 9, 0644, NULL), 0);
	assert_int_equal(run_agent(channel, job_path), 0);
	load(path, &record);
	assert_true(record.has_hello && record.done && !record.ok);
	assert_string_equal(record.error, MESSAGE_ERR_JOB);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return lab_remove_tree(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_job_file),
		cmocka_unit_test(test_bad_job),
	};

	return cmocka_run_group_tests_name("guest outbox", tests, set_up, tear_down);
}
