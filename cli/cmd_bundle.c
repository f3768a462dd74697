/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl bundle, labctl reproduce: a campaign as one file, and what it is worth elsewhere. */
#include <inttypes.h>

#include "cli/campaign_arg.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/run_talk.h"
#include "common/file.h"
#include "common/num.h"
#include "experiments/bundle.h"

struct bundle_args {
	bool no_binaries;
};

static struct run_request request_of(const struct cli *cli)
{
	return (struct run_request){
		.connect = cli->common.connect,
		.definitions_dir = cli->paths.definitions,
		.recipes_dir = cli->paths.recipes,
		.fragments_dir = cli->paths.fragments,
		.agent = cli->paths.agent,
		.plugin = cli->paths.plugin,
	};
}

static int run_bundle(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct bundle_args *args = options;
	struct run_request request = request_of(cli);
	const char *path = operands[1];
	uint64_t bytes;
	char size[16];
	int64_t id;

	request.experiment = operands[2];
	if (campaign_arg(cli->lab, operands[0], &id, err) < 0)
		return -1;
	term_progress(cli->term, &(struct term_progress){.what = "bundle", .text = path});
	if (bundle_make(cli->lab, &request, id, path, !args->no_binaries, err) < 0 ||
	    lab_file_size(path, &bytes, err) < 0)
		return -1;
	term_progress_end(cli->term);
	if (cli->common.json)
		return cli_print_json(cli,
				      json_pack("{s:I, s:s, s:I, s:b}", "campaign", (json_int_t)id,
						"path", path, "bytes", (json_int_t)bytes,
						"binaries", !args->no_binaries),
				      err);
	term_printf(cli->term, "%-8s %s  campaign %" PRId64 ", %s%s\n", "bundle", path, id,
		    lab_format_size(bytes, size, sizeof(size)),
		    args->no_binaries ? ", without kernels and image" : "");
	term_printf(cli->term, "%-8s labctl reproduce %s\n", "next", path);
	return CLI_EXIT_OK;
}

struct reproduce_args {
	uint64_t every;
};

static json_t *result_json(const struct bundle_result *r)
{
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:s?, s:s?, s:s?}", "verdict",
			 bundle_verdict_name(r->verdict), "experiment", r->experiment, "runs",
			 (int)r->runs, "tried", (int)r->tried, "equal", (int)r->equal, "why",
			 r->why, "difference", r->difference, "files", r->files);
}

static void print_result(struct cli *cli, const struct bundle_result *r)
{
	term_printf(cli->term, "%s  %s: ", bundle_verdict_name(r->verdict), r->experiment);
	if (r->tried)
		term_printf(cli->term, "%u of %u runs gave the same bytes\n", r->equal, r->tried);
	else
		term_printf(cli->term, "no run was tried\n");
	if (r->difference)
		term_printf(cli->term, "%-8s %s\n%-8s %s\n", "differs", r->difference, "files",
			    r->files);
	if (r->why)
		term_printf(cli->term, "%-8s %s\n", "why", r->why);
}

static int run_reproduce(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	static const int codes[] = {CLI_EXIT_OK, CLI_EXIT_NOT_REPRODUCED, CLI_EXIT_FAILED};
	const struct reproduce_args *args = options;
	LAB_CLEANUP(bundle_result) struct bundle_result result = {0};
	struct run_progress progress;
	struct run_request request = request_of(cli);

	if (args->every > 100000)
		return lab_error_set(err, LAB_ERR_USAGE, "--every %" PRIu64 ": at most 100000",
				     args->every);
	run_talk_init(&progress, cli);
	if (bundle_reproduce(cli->lab, &request, operands[0],
			     args->every ? (unsigned)args->every : 1, &progress, &result, err) < 0)
		return -1;
	term_progress_end(cli->term);
	if (!cli->common.json)
		print_result(cli, &result);
	else if (cli_print_json(cli, result_json(&result), err) < 0)
		return -1;
	return codes[result.verdict];
}

static const struct cli_option bundle_options[] = {
	{CLI_OPTION_FLAG, 0, "no-binaries", NULL, "leave out kernels, initramfs and image",
	 offsetof(struct bundle_args, no_binaries), NULL},
	CLI_OPTION_END,
};

static const struct cli_option reproduce_options[] = {
	{CLI_OPTION_UINT, 0, "every", "N", "run each Nth run again, from the first (1: all)",
	 offsetof(struct reproduce_args, every), NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_bundle = {run_bundle, bundle_options, sizeof(struct bundle_args)};
const struct cli_handler cmd_reproduce = {run_reproduce, reproduce_options,
					  sizeof(struct reproduce_args)};
