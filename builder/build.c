/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/build.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "builder/configure.h"
#include "builder/kbuild.h"
#include "builder/kernel.h"
#include "builder/resolve.h"
#include "builder/workspace.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "store/artifact.h"
#include "store/lab.h"
#include "store/patchset.h"

enum { LISTED_SYMBOLS = 8 };

/* All that is known before the first file is touched. */
struct job {
	struct lab *lab;
	const struct build_request *request;
	const struct build_progress *progress;
	struct resolved resolved;
	char tree_a[REPO_OID], tree_b[REPO_OID];
	struct config_plan plan;
	char *toolchain;
	struct build_result result;
};

static void job_release(struct job *job)
{
	resolved_release(&job->resolved);
	config_plan_release(&job->plan);
	free(job->toolchain);
	build_result_release(&job->result);
}

static void arm_release(struct build_arm *arm)
{
	artifact_free(arm->kernel);
	free(arm->name);
}

void build_result_release(struct build_result *result)
{
	patchset_free(result->patchset);
	arm_release(&result->a);
	arm_release(&result->b);
	config_diff_release(&result->diff);
	*result = (struct build_result){0};
}

static void LAB_PRINTF(3, 4) say(const struct job *job, const char *word, const char *fmt, ...)
{
	const struct build_progress *p = job->progress;
	char line[1000];
	va_list ap;

	if (!p || !p->say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	p->say(p->ctx, word, line);
}

static void say_resolved(const struct job *job)
{
	const struct resolved *r = &job->resolved;
	char size[32], time[32];

	if (r->source->reference)
		say(job, "source", "%s  (objects of %s)", r->source->name, r->source->reference);
	else
		say(job, "source", "%s", r->source->name);
	if (r->fetched)
		say(job, "fetched", "%zu patch%s, %s in %s", r->subjects.n,
		    r->subjects.n == 1 ? "" : "es",
		    lab_format_size(r->transfer.bytes, size, sizeof(size)),
		    lab_format_duration(r->transfer.ms, time, sizeof(time)));
	say(job, "base", "%s (%s)", r->base_name, r->base_how);
}

static void say_plan(const struct job *job)
{
	const struct lab_strv *left = &job->plan.left_to_default;
	LAB_CLEANUP(buf) struct lab_buf names = LAB_BUF_INIT;

	for (size_t i = 0; i < left->n && i < LISTED_SYMBOLS; i++)
		lab_buf_addf(&names, "%s%s", i ? " " : "", left->items[i]);
	if (left->n > LISTED_SYMBOLS)
		lab_buf_addf(&names, " and %zu more", left->n - LISTED_SYMBOLS);
	if (left->n)
		say(job, "config", "left to each tree's default, since the patchset touches %s: %s",
		    left->n == 1 ? "it" : "them", names.data);
}

static int find_inputs(struct job *job, struct lab_error *err)
{
	const struct build_request *q = job->request;
	struct resolved *r = &job->resolved;

	/* Without a compiler not even the key is known. */
	if (kbuild_check_tools(err) < 0 || kbuild_toolchain(&job->toolchain, err) < 0 ||
	    resolve_patchset(job->lab, q->source, q->spec, q->base, job->progress, r, err) < 0)
		return -1;
	say_resolved(job);
	if (repo_tree(r->repo, r->base, job->tree_a, err) < 0 ||
	    repo_tree(r->repo, r->head, job->tree_b, err) < 0)
		return -1;
	if (strcmp(job->tree_a, job->tree_b) == 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s changes nothing: its tree is that of %s", q->spec,
				     r->base_name);
	if (config_plan_make(q, r->repo, job->tree_a, job->tree_b, &job->plan, err) < 0)
		return -1;
	say_plan(job);
	job->result.a.name = lab_strdup(r->base_name);
	job->result.b.name = lab_asprintf("%s + %zu", r->base_name, r->subjects.n);
	return 0;
}

static struct kernel_inputs inputs_of(const struct job *job, bool patched)
{
	const struct resolved *r = &job->resolved;

	return (struct kernel_inputs){
		.arm = patched ? "B" : "A",
		.label = patched ? job->result.b.name : job->result.a.name,
		.source = r->source->name,
		.commit = patched ? r->head : r->base,
		.tree = patched ? job->tree_b : job->tree_a,
		.plan = &job->plan,
		.toolchain = job->toolchain,
	};
}

static int look_up(struct job *job, bool patched, struct build_arm *arm, struct lab_error *err)
{
	struct kernel_inputs in = inputs_of(job, patched);
	char key[HASH_HEX];

	kernel_key(&in, key);
	if (artifact_find(job->lab, ARTIFACT_KERNEL, key, &arm->kernel, err) < 0)
		return -1;
	if (!arm->kernel)
		return 0;
	arm->cached = true;
	return kernel_figures(arm, err);
}

static int build_missing(struct job *job, struct lab_error *err)
{
	LAB_CLEANUP(workspace) struct workspace ws = {0};
	struct build_arm *arms[] = {&job->result.a, &job->result.b};

	if (workspace_open(job->lab, job->resolved.source->name, &ws, err) < 0)
		return -1;
	for (size_t i = 0; i < LAB_COUNT(arms); i++) {
		struct kernel_inputs in = inputs_of(job, i == 1);

		if (arms[i]->kernel)
			continue;
		if (kernel_build(job->lab, &in, job->resolved.repo, &ws, job->request,
				 job->progress, arms[i], err) < 0)
			return lab_error_wrap(err, "kernel %s (%s)", in.arm, in.label);
		ws.fresh = false;
	}
	return 0;
}

static int compare_arms(struct job *job, struct lab_error *err)
{
	struct build_result *r = &job->result;
	LAB_CLEANUP(free) char *a = lab_path_join(r->a.kernel->path, "config");
	LAB_CLEANUP(free) char *b = lab_path_join(r->b.kernel->path, "config");
	int same;

	if (config_diff(a, b, &r->diff, err) < 0)
		return -1;
	same = kernel_same_code(r->a.kernel, r->b.kernel, err);
	if (same <= 0)
		return same;
	return lab_error_set(
		err, LAB_ERR_INVALID,
		"the two kernels are equal: with this configuration %s changes nothing "
		"in the code%s",
		job->request->spec, r->diff.n ? " (only in .config)" : "");
}

static char *subjects_json(const struct lab_strv *subjects)
{
	json_t *array = json_array();
	char *text;

	for (size_t i = 0; i < subjects->n; i++) {
		/* Old commits are Latin-1 at times; JSON is UTF-8. */
		json_t *subject = json_string(subjects->items[i]);

		json_array_append_new(array, subject ? subject : json_string("(not UTF-8)"));
	}
	text = json_dumps(array, JSON_COMPACT);
	json_decref(array);
	return text;
}

static int record(struct job *job, struct lab_error *err)
{
	const struct resolved *r = &job->resolved;
	LAB_CLEANUP(free) char *subjects = subjects_json(&r->subjects);
	const struct patchset row = {
		.source = r->source->name,
		.spec = (char *)job->request->spec,
		.base = (char *)r->base,
		.base_name = r->base_name,
		.base_how = r->base_how,
		.head = (char *)r->head,
		.commits = (int)r->subjects.n,
		.subjects = subjects,
		.kernel_a = job->result.a.kernel->key,
		.kernel_b = job->result.b.kernel->key,
	};

	if (patchset_put(job->lab, &row, NULL, err) < 0)
		return -1;
	return patchset_latest(job->lab, &job->result.patchset, err);
}

static int run(struct job *job, struct lab_error *err)
{
	struct build_result *r = &job->result;

	if (find_inputs(job, err) < 0 || look_up(job, false, &r->a, err) < 0 ||
	    look_up(job, true, &r->b, err) < 0)
		return -1;
	if ((!r->a.kernel || !r->b.kernel) && build_missing(job, err) < 0)
		return -1;
	if (compare_arms(job, err) < 0)
		return -1;
	return record(job, err);
}

int build_patchset(struct lab *lab, const struct build_request *request,
		   const struct build_progress *progress, struct build_result *ret_result,
		   struct lab_error *err)
{
	struct job job = {.lab = lab, .request = request, .progress = progress};
	int rc = run(&job, err);

	if (rc == 0) {
		*ret_result = job.result;
		job.result = (struct build_result){0};
	}
	job_release(&job);
	return rc;
}
