/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl init: makes a lab. */
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "common/file.h"
#include "common/mem.h"

static int run_init(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(free) char *dir = NULL;
	LAB_CLEANUP(free) char *db = NULL;
	bool is_default, existed;

	(void)options;
	dir = operands[0] ? lab_strdup(operands[0]) : cli_lab_dir(cli, &is_default);
	db = lab_path_join(dir, "lab.db");
	existed = lab_file_exists(db);
	if (lab_init(dir, err) < 0)
		return -1;
	if (lab_open(dir, &cli->lab, err) < 0)
		return -1;
	if (cli->common.json)
		return cli_print_json(cli,
				      json_pack("{s:s, s:s, s:b}", "lab", lab_dir(cli->lab), "id",
						lab_id(cli->lab), "made", !existed),
				      err);
	term_printf(cli->term, "%s %s\n", existed ? "already a lab:" : "made a lab in",
		    lab_dir(cli->lab));
	return CLI_EXIT_OK;
}

const struct cli_handler cmd_init = {run_init, NULL, 0};
