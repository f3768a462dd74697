/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl rerun: the same run once more, and whether it gives the same bytes. */
#include <string.h>

#include "cli/campaign_arg.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/run_talk.h"
#include "experiments/again.h"

static int run_rerun(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(again_result) struct again_result result = {0};
	struct run_progress progress;
	struct run_name name;
	struct run_request request = {
		.experiment = operands[1],
		.use_ccache = true,
		.connect = cli->common.connect,
		.definitions_dir = cli->paths.definitions,
		.recipes_dir = cli->paths.recipes,
		.fragments_dir = cli->paths.fragments,
		.agent = cli->paths.agent,
		.plugin = cli->paths.plugin,
	};

	(void)options;
	if (!run_name_parse(operands[0], &name) || !name.number)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "'%s' is no run: it is written CAMPAIGN.NUMBER, like 7.41",
				     operands[0]);
	run_talk_init(&progress, cli);
	progress.say = NULL;
	if (again_run(cli->lab, &request, name.campaign, name.number, name.attempt, &progress,
		      &result, err) < 0)
		return -1;
	term_progress_end(cli->term);
	if (cli->common.json) {
		json_t *json = json_pack("{s:s, s:b, s:s?, s:s?, s:s?}", "run", operands[0],
					 "equal", result.equal, "sha256", result.sha256,
					 "difference", result.difference, "files", result.dir);

		if (cli_print_json(cli, json, err) < 0)
			return -1;
	} else if (result.equal) {
		term_printf(cli->term, "equal    %s  frames %.12s\n", operands[0], result.sha256);
	} else {
		term_printf(cli->term, "differs  %s  %s\n", operands[0], result.difference);
		term_printf(cli->term, "files    %s\n", result.dir);
	}
	return result.equal ? CLI_EXIT_OK : CLI_EXIT_NOT_REPRODUCED;
}

const struct cli_handler cmd_rerun = {run_rerun, NULL, 0};
