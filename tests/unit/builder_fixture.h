/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_TESTS_BUILDER_FIXTURE_H
#define LAB_TESTS_BUILDER_FIXTURE_H

/* A directory of the test's own, a lab in it, and a shell to make repositories with. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/progress.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "store/lab.h"

/* libgit2 1.5 leaks 20 KiB of PCRE's for each configuration key when it opens a remote. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2";
}

static struct lab_error err;
static char *top;
static struct lab *lab;

/* Everything the builder said, a line each: "word text". */
static struct lab_buf said;

__attribute__((unused)) static void on_say(void *ctx, const char *word, const char *text)
{
	(void)ctx;
	lab_buf_addf(&said, "%s %s\n", word, text);
}

static int set_up(void **state)
{
	char name[] = "/tmp/labctl-test-XXXXXX";
	LAB_CLEANUP(free) char *dir = NULL;

	(void)state;
	err = (struct lab_error){0};
	top = lab_strdup(mkdtemp(name));
	/* git of the test and of the builder: no configuration but this, the same times always */
	setenv("HOME", top, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_NAME", "Test", 1);
	setenv("GIT_AUTHOR_EMAIL", "test@localhost", 1);
	setenv("GIT_COMMITTER_NAME", "Test", 1);
	setenv("GIT_COMMITTER_EMAIL", "test@localhost", 1);
	setenv("GIT_AUTHOR_DATE", "1700000000 +0000", 1);
	setenv("GIT_COMMITTER_DATE", "1700000000 +0000", 1);
	dir = lab_path_join(top, "lab");
	if (lab_init(dir, &err) < 0 || lab_open(dir, &lab, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	lab_free(lab);
	lab = NULL;
	lab_buf_release(&said);
	if (lab_remove_tree(top, &err) < 0)
		fail_msg("%s", err.text);
	free(top);
	return 0;
}

/* Runs a script in the top directory; it must succeed. What it printed; caller frees. */
static char *sh(const char *script)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const char *argv[] = {"sh", "-euc", script, NULL};
	struct lab_proc proc = {.argv = argv, .cwd = top, .timeout_ms = 60000};
	size_t len;

	if (lab_proc_must(&proc, &result, &err) < 0)
		fail_msg("%s: %s", script, err.text);
	len = result.out.len;
	while (len && result.out.data[len - 1] == '\n')
		len--;
	return lab_strndup(result.out.data ? result.out.data : "", len);
}

__attribute__((unused)) static void run(const char *script)
{
	free(sh(script));
}

#define assert_ok(call)                                      \
	do {                                                 \
		if ((call) < 0)                              \
			fail_msg("%s: %s", #call, err.text); \
	} while (0)

/* The call fails and its words hold `words`. */
#define assert_fails(call, words)                                   \
	do {                                                        \
		err = (struct lab_error){0};                        \
		if ((call) >= 0)                                    \
			fail_msg("%s does not fail", #call);        \
		if (!strstr(err.text, words))                       \
			fail_msg("unexpected words: %s", err.text); \
	} while (0)

#endif
