/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/kbuild.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "builder/digest.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"

enum { LOG_CAP = 64 << 20, TOOL_MS = 20000 };

/* Set for every build, so that no two kernels differ by when, where and by whom. */
static const char *const fixed_env[] = {
	"LC_ALL=C",
	"KBUILD_BUILD_TIMESTAMP=Sat Jan  1 00:00:00 UTC 2000",
	"KBUILD_BUILD_USER=labctl",
	"KBUILD_BUILD_HOST=labctl",
	"KBUILD_BUILD_VERSION=1",
	"PYTHONDONTWRITEBYTECODE=1", /* or scripts/ would change under us */
	NULL,
};

/* Taken over from our own environment: where programs and caches are. */
static const char *const kept_env[] = {"PATH",	     "HOME",	       "TMPDIR",
				       "CCACHE_DIR", "CCACHE_MAXSIZE", "CCACHE_CONFIGPATH"};

/* KBUILD_FLAGS with the directories of this workspace. */
static char *prefix_maps(const struct workspace *ws)
{
	return lab_asprintf("-ffile-prefix-map=%s/= -ffile-prefix-map=%s=.", ws->tree, ws->obj);
}

static char *ccache_log(const struct workspace *ws)
{
	return lab_path_join(ws->dir, "ccache.log");
}

void kbuild_environment(const struct kbuild *k, struct lab_strv *env)
{
	LAB_CLEANUP(free) char *mark = workspace_mark(k->ws);
	LAB_CLEANUP(free) char *flags = prefix_maps(k->ws);
	LAB_CLEANUP(free) char *log = ccache_log(k->ws);

	lab_strv_add_all(env, fixed_env);
	for (size_t i = 0; i < LAB_COUNT(kept_env); i++) {
		const char *value = getenv(kept_env[i]);

		if (value)
			lab_strv_addf(env, "%s=%s", kept_env[i], value);
	}
	lab_strv_add(env, mark);
	lab_strv_addf(env, "KCFLAGS=%s", flags);
	lab_strv_addf(env, "KAFLAGS=%s", flags);
	if (k->ccache)
		lab_strv_addf(env, "CCACHE_STATSLOG=%s", log);
}

void kbuild_arguments(const struct kbuild *k, const char *const *goals, struct lab_strv *argv)
{
	lab_strv_add(argv, "make");
	lab_strv_addf(argv, "-j%u", k->jobs);
	lab_strv_add(argv, "-C");
	lab_strv_add(argv, k->ws->tree);
	lab_strv_addf(argv, "O=%s", k->ws->obj);
	/* Set and empty: no "+" behind the release, whatever git repository is around. */
	lab_strv_add(argv, "LOCALVERSION=");
	if (k->ccache)
		lab_strv_add(argv, "CC=ccache gcc");
	lab_strv_add_all(argv, goals);
}

const char *kbuild_step(const char *line)
{
	static const char *const steps[] = {"CC", "AS"};

	if (!lab_starts_with(line, "  "))
		return NULL;
	line += 2;
	for (size_t i = 0; i < LAB_COUNT(steps); i++) {
		const char *p = line + strlen(steps[i]);

		if (!lab_starts_with(line, steps[i]) || *p != ' ')
			continue;
		p += strspn(p, " ");
		if (lab_starts_with(p, "[M]"))
			p += strlen("[M]") + strspn(p + strlen("[M]"), " ");
		return *p ? p : NULL;
	}
	return NULL;
}

struct run {
	const struct kbuild *k;
	unsigned done;
};

static void on_line(void *ctx, bool is_stderr, const char *line)
{
	struct run *run = ctx;
	const struct build_progress *p = run->k->progress;
	const char *file = is_stderr ? NULL : kbuild_step(line);
	size_t len = strlen(run->k->ws->obj);

	if (!file)
		return;
	run->done++;
	if (lab_starts_with(file, run->k->ws->obj) && file[len] == '/')
		file += len + 1; /* tools are told their whole path */
	if (p && p->objects)
		p->objects(p->ctx, run->k->arm, run->done, run->k->expected, file);
}

static bool on_tick(void *ctx)
{
	const struct build_progress *p = ((struct run *)ctx)->k->progress;

	return p && p->cancelled && p->cancelled(p->ctx);
}

static int failure(const struct kbuild *k, const char *log, const struct lab_proc_result *result,
		   struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *first = NULL;

	if (result->signal)
		return lab_error_set(err, LAB_ERR_FAILED,
				     "make was killed by signal %d (%s); log: %s", result->signal,
				     strsignal(result->signal), log);
	if (lab_read_file(log, LOG_CAP, &text, NULL) == 0 && text.data)
		first = digest_failure(text.data, k->ws->tree, k->ws->obj);
	return lab_error_set(err, LAB_ERR_FAILED, "%s; log: %s",
			     first ? first : "make failed without an error that is known", log);
}

/*
 * The log has "# FILE" and then results, a line each, for each call. make also asks the
 * compiler what it can do, with /dev/null as the file: that is no object.
 */
static void count_line(const char *line, bool *is_object, struct kbuild_stats *stats)
{
	bool hit = lab_starts_with(line, "direct_cache_hit") ||
		   lab_starts_with(line, "preprocessed_cache_hit");

	if (lab_starts_with(line, "# "))
		*is_object = line[2] != '-' && !lab_starts_with(line + 2, "/dev/null");
	if (!*is_object || (!hit && !lab_starts_with(line, "cache_miss")))
		return;
	stats->ccache_hits += hit;
	stats->ccache_total++;
}

static void count_ccache(const struct workspace *ws, struct kbuild_stats *stats)
{
	LAB_CLEANUP(free) char *path = ccache_log(ws);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	bool is_object = false;

	if (lab_read_file(path, LOG_CAP, &text, NULL) == 0) {
		for (const char *at = text.data; at && *at; at = strchr(at, '\n')) {
			at += *at == '\n';
			count_line(at, &is_object, stats);
		}
	}
	unlink(path);
}

int kbuild_make(const struct kbuild *k, const char *const *goals, struct kbuild_stats *stats,
		struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv env = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	LAB_CLEANUP(free) char *log = workspace_log(k->ws, k->arm);
	LAB_CLEANUP(free) char *calls = ccache_log(k->ws);
	struct run run = {k, stats->objects};
	struct lab_proc proc = {
		.cwd = k->ws->dir,
		.log_path = log,
		.output_cap = 1,
		.on_line = on_line,
		.on_tick = on_tick,
		.ctx = &run,
	};

	unlink(calls); /* a killed build's */
	kbuild_environment(k, &env);
	kbuild_arguments(k, goals, &argv);
	proc.env = (const char *const *)env.items;
	proc.argv = (const char *const *)argv.items;
	if (workspace_begin_build(k->ws, err) < 0 || lab_proc_run(&proc, &result, err) < 0)
		return -1;
	stats->objects = run.done;
	stats->cpu_s += result.cpu_s;
	stats->ms += result.wall_ms;
	if (k->ccache)
		count_ccache(k->ws, stats);
	/* A make that ended by itself removed what it had not finished; a killed one did not. */
	if (result.signal != SIGKILL && workspace_end_build(k->ws, err) < 0)
		return -1;
	if (result.cancelled)
		return lab_error_set(err, LAB_ERR_CANCELLED,
				     "stopped; the same command goes on from here");
	return result.exit_code == 0 ? 0 : failure(k, log, &result, err);
}

int kbuild_check_tools(struct lab_error *err)
{
	static const char *const tools[] = {"make", "gcc", "ld", "flex", "bison", "bc"};
	LAB_CLEANUP(strv) struct lab_strv missing = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *what = NULL;
	LAB_CLEANUP(free) char *install = NULL;

	for (size_t i = 0; i < LAB_COUNT(tools); i++) {
		LAB_CLEANUP(free) char *path = lab_proc_which(tools[i]);

		if (path)
			continue;
		lab_strv_add(&missing, tools[i]);
		lab_strv_add(&names, digest_package(tools[i]));
	}
	if (!missing.n)
		return 0;
	what = lab_strv_join(&missing, ", ");
	install = lab_strv_join(&names, " ");
	return lab_error_set(err, LAB_ERR_UNAVAILABLE,
			     "kernels are built with %s: apt-get install %s", what, install);
}

static int first_line(const char *program, struct lab_buf *text, struct lab_error *err)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	LAB_CLEANUP(strv) struct lab_strv env = LAB_STRV_INIT;
	const char *argv[] = {program, "--version", NULL};
	struct lab_proc proc = {.argv = argv, .timeout_ms = TOOL_MS};

	lab_strv_add(&env, "LC_ALL=C");
	lab_strv_addf(&env, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	proc.env = (const char *const *)env.items;
	if (lab_proc_must(&proc, &result, err) < 0)
		return -1;
	if (text->len)
		lab_buf_adds(text, "; ");
	if (result.out.data)
		lab_buf_add(text, result.out.data, strcspn(result.out.data, "\n"));
	return 0;
}

int kbuild_toolchain(char **ret_text, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (first_line("gcc", &text, err) < 0 || first_line("ld", &text, err) < 0)
		return lab_error_wrap(err, "kernel build");
	*ret_text = lab_buf_take(&text);
	return 0;
}
