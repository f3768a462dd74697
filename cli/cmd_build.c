/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl build: the kernels without and with a patchset. */
#include "builder/build.h"
#include "cli/build_talk.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/kernel_diff.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"
#include "store/artifact.h"
#include "store/patchset.h"
#include "vmctl/target.h"

struct build_args {
	const char *source;
	const char *base;
	const char *base_config;
	const char *target;
	struct lab_strv fragments;
	struct lab_strv config;
	uint64_t jobs;
	bool no_ccache;
};

/* Symbols that are named in the line; the rest is counted. */
#define MOST_SYMBOLS 8

static json_t *arm_json(const struct build_arm *arm)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:I, s:f, s:i, s:i, s:i}", "name", arm->name, "key",
			 arm->kernel->key, "path", arm->kernel->path, "cached", arm->cached, "ms",
			 (json_int_t)arm->ms, "cpu_s", arm->cpu_s, "objects", (int)arm->objects,
			 "ccache_hits", (int)arm->ccache_hits, "ccache_total",
			 (int)arm->ccache_total);
}

static json_t *result_json(const struct build_result *r)
{
	const struct patchset *p = r->patchset;
	json_t *set =
		json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o}", "id", (json_int_t)p->id,
			  "patchset", p->spec, "source", p->source, "base", p->base, "base_name",
			  p->base_name, "base_how", p->base_how, "head", p->head, "commits",
			  p->commits, "subjects", cli_json_text(p->subjects));

	return json_pack("{s:o, s:o, s:o, s:o}", "patchset", set, "a", arm_json(&r->a), "b",
			 arm_json(&r->b), "config", kernel_diff_json(&r->diff));
}

static void print_arm(struct cli *cli, const char *letter, const struct build_arm *arm)
{
	LAB_CLEANUP(buf) struct lab_buf line = LAB_BUF_INIT;
	char time[16];

	lab_buf_addf(&line, "%s  %-16s  %-6s  %.*s", letter, arm->name,
		     arm->cached ? "cached" : "built", ARTIFACT_SHORT, arm->kernel->key);
	if (!arm->cached) {
		lab_buf_addf(&line, "   %s, %u objects",
			     lab_format_duration(arm->ms, time, sizeof(time)), arm->objects);
		if (arm->ccache_total)
			lab_buf_addf(&line, ", ccache %u/%u", arm->ccache_hits, arm->ccache_total);
	}
	lab_buf_addc(&line, '\n');
	cli_print_buf(cli, &line);
}

static void print_result(struct cli *cli, const struct build_result *r)
{
	LAB_CLEANUP(buf) struct lab_buf line = LAB_BUF_INIT;

	print_arm(cli, "A", &r->a);
	print_arm(cli, "B", &r->b);
	lab_buf_adds(&line, "config   ");
	kernel_diff_line(&r->diff, MOST_SYMBOLS, &line);
	if (r->diff.n > MOST_SYMBOLS)
		lab_buf_addf(&line, "   labctl diff %.8s %.8s", r->a.kernel->key, r->b.kernel->key);
	lab_buf_addc(&line, '\n');
	cli_print_buf(cli, &line);
}

static int run_build(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct build_args *args = options;
	LAB_CLEANUP(build_result) struct build_result result = {0};
	const struct target *target;
	struct build_talk talk;
	struct build_request request = {
		.source = args->source,
		.spec = operands[0],
		.base = args->base,
		.base_config = args->base_config,
		.fragments_dir = cli->paths.fragments,
		.fragments = (const char *const *)args->fragments.items,
		.config = (const char *const *)args->config.items,
		.jobs = (unsigned)args->jobs,
		.use_ccache = !args->no_ccache,
	};

	if (args->jobs > 1024)
		return lab_error_set(err, LAB_ERR_USAGE, "--jobs %llu: at most 1024",
				     (unsigned long long)args->jobs);
	if (target_find(args->target ? args->target : "live", &target, err) < 0)
		return -1;
	request.required = target->caps.required_config;
	build_talk_init(&talk, cli, !cli->common.json);
	if (build_patchset(cli->lab, &request, &talk.progress, &result, err) < 0)
		return -1;
	term_progress_end(cli->term);
	if (cli->common.json)
		return cli_print_json(cli, result_json(&result), err);
	print_result(cli, &result);
	return CLI_EXIT_OK;
}

#define AT(member) offsetof(struct build_args, member)

static const struct cli_option build_options[] = {
	{CLI_OPTION_STR, 0, "source", "NAME", "where it comes from (the first source that has it)",
	 AT(source), NULL},
	{CLI_OPTION_STR, 0, "base", "COMMIT", "what A is, instead of the base that is found",
	 AT(base), NULL},
	{CLI_OPTION_STR, 0, "base-config", "NAME|FILE", "what the configuration stands on (tiny)",
	 AT(base_config), NULL},
	{CLI_OPTION_LIST, 0, "fragment", "FILE", "config fragment on top of it (repeatable)",
	 AT(fragments), NULL},
	{CLI_OPTION_PAIR, 'c', "config", "SYMBOL=VALUE",
	 "config symbol on top of that (repeatable)", AT(config), NULL},
	{CLI_OPTION_STR, 0, "target", "NAME", "where the kernels will run (live)", AT(target),
	 NULL},
	{CLI_OPTION_UINT, 'j', "jobs", "N", "compiler processes (one for each processor)", AT(jobs),
	 NULL},
	{CLI_OPTION_FLAG, 0, "no-ccache", NULL, "compile everything anew", AT(no_ccache), NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_build = {run_build, build_options, sizeof(struct build_args)};
