/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_PROC_H
#define LAB_COMMON_PROC_H

/*
 * Child processes: always by argument vector, never through a shell, in a process
 * group of their own, with a deadline, a captured and capped output, and an end
 * when the parent dies.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buf.h"
#include "common/err.h"

struct lab_proc {
	const char *const *argv; /* argv[0] is searched in PATH */
	const char *cwd;	 /* NULL: ours */
	const char *const *env;	 /* whole environment, NULL: ours */
	const char *input;	 /* standard input's bytes, NULL: /dev/null */
	size_t input_len;
	const char *log_path; /* both outputs are also appended here; NULL: not kept */
	uint64_t timeout_ms;  /* 0: none; then the group is killed */
	size_t output_cap; /* bytes kept of each output, 0: 1 MiB; the rest is read and dropped */
	/* Called for each line (without its end) of either output; may be NULL. */
	void (*on_line)(void *ctx, bool is_stderr, const char *line);
	/* Called a few times a second while it runs; returning true ends the child. May be NULL. */
	bool (*on_tick)(void *ctx);
	void *ctx;
	uid_t uid; /* with drop_privileges */
	gid_t gid;
	bool drop_privileges;
};

struct lab_proc_result {
	int exit_code; /* -1 when a signal ended it */
	int signal;    /* or 0 */
	bool timed_out;
	bool cancelled; /* on_tick asked for the end */
	struct lab_buf out;
	struct lab_buf err;
	uint64_t wall_ms;
	double cpu_s; /* user + system of the child and what it waited for */
};

/*
 * Runs to the end. Returns 0 whenever the child was started, whatever its exit
 * code; -1 with err when it could not be. The result is always releasable.
 */
int lab_proc_run(const struct lab_proc *proc, struct lab_proc_result *result,
		 struct lab_error *err) LAB_MUST_CHECK;
void lab_proc_result_release(struct lab_proc_result *result);

/*
 * lab_proc_run that also takes anything but exit code 0 as a failure; the message
 * names the program and carries the last line it wrote to standard error.
 */
int lab_proc_must(const struct lab_proc *proc, struct lab_proc_result *result,
		  struct lab_error *err) LAB_MUST_CHECK;

/* Full path of a program in PATH (with /usr/sbin and /sbin added), or NULL; caller frees. */
char *lab_proc_which(const char *name);

static inline void lab_cleanup_proc_result(struct lab_proc_result *result)
{
	lab_proc_result_release(result);
}

#endif
