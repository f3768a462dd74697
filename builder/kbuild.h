/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_KBUILD_H
#define LAB_BUILDER_KBUILD_H

/*
 * Calling a kernel's own make. What make and its children see is fixed: environment,
 * build time, user, host, version, paths. Internal.
 */

#include "builder/progress.h"
#include "builder/workspace.h"
#include "common/err.h"
#include "common/strv.h"

struct kbuild {
	const struct workspace *ws;
	unsigned jobs;
	bool ccache;
	const char *arm;   /* "A" or "B" */
	unsigned expected; /* compiler steps, 0 when not known */
	const struct build_progress *progress;
};

struct kbuild_stats {
	unsigned objects; /* compiler and assembler steps */
	double cpu_s;
	uint64_t ms;
	unsigned ccache_hits, ccache_total;
};

/* Pure: the whole environment and the whole argument vector. */
void kbuild_environment(const struct kbuild *k, struct lab_strv *env);
void kbuild_arguments(const struct kbuild *k, const char *const *goals, struct lab_strv *argv);
/* Flags that are added to the kernel's own, as the manifest names them. */
#define KBUILD_FLAGS "-ffile-prefix-map=TREE/= -ffile-prefix-map=OBJECTS=."
/* "mm/slub.o" out of "  CC      mm/slub.o"; NULL when the line is no compiler's step. Borrowed. */
const char *kbuild_step(const char *line);

/*
 * Runs make with these goals (and VAR=value), appends what it says to the arm's log and
 * adds to *stats. A failure is the first error in that log, with the log's path.
 */
int kbuild_make(const struct kbuild *k, const char *const *goals, struct kbuild_stats *stats,
		struct lab_error *err) LAB_MUST_CHECK;

/* What a kernel build needs is there, or an error names the packages. */
int kbuild_check_tools(struct lab_error *err) LAB_MUST_CHECK;
/* Compiler, assembler and linker, "gcc (Debian 12.2.0-14) 12.2.0; GNU ld ... 2.40". */
int kbuild_toolchain(char **ret_text, struct lab_error *err) LAB_MUST_CHECK;

#endif
