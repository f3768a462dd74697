/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl run: executes an experiment, or goes on with it. */
#include <string.h>

#include "cli/build_talk.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/run_talk.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"
#include "experiments/runner.h"
#include "store/state.h"

struct run_args {
	const char *preset;
	const char *source;
	const char *target;
	const char *deadline_scale;
	struct lab_strv kernels;
	struct lab_strv only;
	uint64_t n;
	uint64_t seed;
	uint64_t jobs;
	bool allow_emulated;
	bool aa;
	bool new_campaign;
	bool dry_run;
	bool no_ccache;
	bool check;
	bool profile;
	uint64_t check_every;
};

/* --check repeats the first run and each one that many further on. */
enum { CHECK_EVERY = 5 };

/* "A=a1b2c3" of --kernel; names are cut out of `words`, which owns them. */
static struct run_kernel *split_kernels(const struct lab_strv *pairs, struct lab_strv *words)
{
	struct run_kernel *kernels = LAB_NEW_ARRAY(struct run_kernel, pairs->n + 1);

	for (size_t i = 0; i < pairs->n; i++) {
		const char *equals = strchr(pairs->items[i], '=');
		LAB_CLEANUP(free)
		char *name = lab_strndup(pairs->items[i], (size_t)(equals - pairs->items[i]));

		lab_strv_add(words, name);
		kernels[i].value = equals + 1;
	}
	for (size_t i = 0; i < pairs->n; i++)
		kernels[i].name = words->items[i];
	return kernels;
}

static json_t *result_json(const struct run_result *r)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < r->n_counts; i++)
		json_object_set_new(counts, r->counts[i].state,
				    json_integer((json_int_t)r->counts[i].n));
	return json_pack("{s:I, s:i, s:i, s:i, s:i, s:i, s:o, s:b, s:b, s:b, s:b, s:s?}",
			 "campaign", (json_int_t)r->campaign, "planned", (int)r->planned, "done",
			 (int)r->done, "failed", (int)r->failed, "missing", (int)r->missing,
			 "checked", (int)r->checked, "states", counts, "resumed", r->resumed,
			 "already_complete", r->already_complete, "emulated", r->emulated,
			 "cancelled", r->cancelled, "plan", r->plan);
}

static void print_result(struct cli *cli, const struct run_result *r)
{
	if (r->plan) {
		term_print(cli->term, r->plan);
		return;
	}
	if (r->campaign == 0)
		return;
	term_printf(cli->term, "%-8s %u of %u runs", r->missing ? "so far" : "complete",
		    r->planned - r->missing, r->planned);
	for (size_t i = 0; i < r->n_counts; i++)
		term_printf(cli->term, ", %u %s", r->counts[i].n, r->counts[i].state);
	term_print(cli->term, "\n");
	if (r->checked)
		term_printf(cli->term, "%-8s %u run%s run twice, equal to the byte\n", "checked",
			    r->checked, r->checked == 1 ? "" : "s");
	if (r->missing == 0)
		term_printf(cli->term, "%-8s labctl compare %lld%s\n", "next",
			    (long long)r->campaign, r->emulated ? " --allow-emulated" : "");
}

/* What the exit code and the last words are. */
static int conclude(struct cli *cli, const struct run_args *args, const struct run_result *r,
		    struct lab_error *err)
{
	const char *again =
		args->new_campaign ? "the same command without --new" : "the same command";

	if (r->cancelled)
		return lab_error_set(err, LAB_ERR_CANCELLED,
				     "stopped after %u of %u runs; %s goes on",
				     r->planned - r->missing, r->planned, again);
	if (r->campaign && r->missing) {
		term_say(cli->term, "%u of %u runs are missing (labctl show %lld); %s repeats them",
			 r->missing, r->planned, (long long)r->campaign, again);
		return CLI_EXIT_FAILED_RUNS;
	}
	if (r->failed) {
		term_say(cli->term, "%u run%s failed: labctl show %lld", r->failed,
			 r->failed == 1 ? "" : "s", (long long)r->campaign);
		return CLI_EXIT_FAILED_RUNS;
	}
	return CLI_EXIT_OK;
}

static int fill_request(const struct run_args *args, struct run_request *request,
			struct lab_error *err)
{
	if (args->n > 100000)
		return lab_error_set(err, LAB_ERR_USAGE, "-n %llu: at most 100000",
				     (unsigned long long)args->n);
	if (args->jobs > 1024)
		return lab_error_set(err, LAB_ERR_USAGE, "--jobs %llu: at most 1024",
				     (unsigned long long)args->jobs);
	if (args->deadline_scale &&
	    (lab_parse_double(args->deadline_scale, &request->deadline_scale, NULL) < 0 ||
	     request->deadline_scale <= 0 || request->deadline_scale > 1000))
		return lab_error_set(err, LAB_ERR_USAGE,
				     "--deadline-scale '%s': a number above 0, at most 1000",
				     args->deadline_scale);
	if (args->check_every > 100000)
		return lab_error_set(err, LAB_ERR_USAGE, "--check-every %llu: at most 100000",
				     (unsigned long long)args->check_every);
	request->check_every = (unsigned)args->check_every;
	if (args->check && !request->check_every)
		request->check_every = CHECK_EVERY;
	request->n = (unsigned)args->n;
	request->jobs = (unsigned)args->jobs;
	return 0;
}

static int run_run(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct run_args *args = options;
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(free) struct run_kernel *kernels = split_kernels(&args->kernels, &names);
	struct build_talk talk;
	struct run_result result = {0};
	struct run_progress progress;
	struct run_request request = {
		.experiment = operands[0],
		.preset = args->preset,
		.patchset = operands[1],
		.source = args->source,
		.kernels = kernels,
		.n_kernels = args->kernels.n,
		.target = args->target,
		.only = &args->only,
		.seed = args->seed,
		.allow_emulated = args->allow_emulated,
		.aa = args->aa,
		.new_campaign = args->new_campaign,
		.dry_run = args->dry_run,
		.use_ccache = !args->no_ccache,
		.connect = cli->common.connect,
		.definitions_dir = cli->paths.definitions,
		.recipes_dir = cli->paths.recipes,
		.fragments_dir = cli->paths.fragments,
		.agent = cli->paths.agent,
		.plugin = cli->paths.plugin,
		.profile = args->profile,
	};
	int ret;

	if (fill_request(args, &request, err) < 0)
		return -1;
	run_talk_init(&progress, cli);
	build_talk_init(&talk, cli, !cli->common.json);
	progress.build = &talk.progress;
	ret = campaign_run(cli->lab, &request, &progress, &result, err);
	term_progress_end(cli->term);
	if (cli->common.json && (ret == 0 || result.campaign)) {
		/* The run's own error is worth more than this one. */
		if (cli_print_json(cli, result_json(&result), ret == 0 ? err : NULL) < 0)
			ret = -1;
	} else if (ret == 0 || result.campaign) {
		print_result(cli, &result);
	}
	if (ret == 0)
		ret = conclude(cli, args, &result, err);
	run_result_release(&result);
	return ret;
}

#define AT(member) offsetof(struct run_args, member)

static const struct cli_option run_options[] = {
	{CLI_OPTION_STR, 'p', "preset", "NAME", "size of the experiment (its first preset)",
	 AT(preset), NULL},
	{CLI_OPTION_PAIR, 'k', "kernel", "VARIANT=KERNEL",
	 "instead of a patchset: key, label or bzImage (repeatable)", AT(kernels), NULL},
	{CLI_OPTION_STR, 0, "source", "NAME", "where PATCHSET comes from", AT(source), NULL},
	{CLI_OPTION_STR, 't', "target", "NAME", "where it runs (what the experiment says)",
	 AT(target), NULL},
	{CLI_OPTION_UINT, 'n', "boots", "N", "boots of each variant in each cell (the preset's)",
	 AT(n), NULL},
	{CLI_OPTION_UINT, 0, "seed", "N", "of the run order and of the runs (1)", AT(seed), NULL},
	{CLI_OPTION_LIST, 0, "only", "CELL", "only this cell (repeatable)", AT(only), NULL},
	{CLI_OPTION_FLAG, 0, "allow-emulated", NULL,
	 "run without KVM; times are marked and mean little", AT(allow_emulated), NULL},
	{CLI_OPTION_FLAG, 0, "aa", NULL, "equal variants are meant", AT(aa), NULL},
	{CLI_OPTION_FLAG, 0, "new", NULL, "start another campaign, do not go on with one",
	 AT(new_campaign), NULL},
	{CLI_OPTION_FLAG, 0, "dry-run", NULL, "print the plan, boot nothing", AT(dry_run), NULL},
	{CLI_OPTION_STR, 0, "deadline-scale", "X", "stretch every deadline", AT(deadline_scale),
	 NULL},
	{CLI_OPTION_FLAG, 0, "check", NULL,
	 "target exact: run every fifth run twice; they must be equal", AT(check), NULL},
	{CLI_OPTION_UINT, 0, "check-every", "N", "the same with every Nth run", AT(check_every),
	 NULL},
	{CLI_OPTION_FLAG, 0, "profile", NULL,
	 "target exact: count the instructions of each kernel function", AT(profile), NULL},
	{CLI_OPTION_UINT, 'j', "jobs", "N", "compiler processes (one for each processor)", AT(jobs),
	 NULL},
	{CLI_OPTION_FLAG, 0, "no-ccache", NULL, "compile everything anew", AT(no_ccache), NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_run = {run_run, run_options, sizeof(struct run_args)};
