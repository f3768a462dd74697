/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl show: everything about one thing. */
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/show.h"
#include "common/mem.h"

static const struct {
	const char *name;
	show_fn show;
	bool needs_lab;
	bool sure; /* a name of its form can be nothing else */
} kinds[] = {
	/* In the order in which a name without a kind is tried. */
	{"experiment", show_experiment, false, false}, {"run", show_run, true, true},
	{"campaign", show_campaign, true, true},       {"kernel", show_kernel, true, false},
	{"patchset", show_patchset, true, false},      {"image", show_image, true, false},
};

static int show_as(struct cli *cli, size_t kind, const char *name, struct lab_error *err)
{
	if (kinds[kind].needs_lab && cli_open_lab(cli, CLI_LAB, "show", err) < 0)
		return -1;
	return kinds[kind].show(cli, name, err);
}

/* The first kind that knows the name; what only looks like one says why it has none. */
static int show_any(struct cli *cli, const char *name, struct lab_error *err)
{
	for (size_t i = 0; i < LAB_COUNT(kinds); i++) {
		struct lab_error this = {0};
		int ret = show_as(cli, i, name, &this);

		if (ret >= 0)
			return ret;
		if (this.kind == LAB_ERR_USAGE)
			continue;
		if (this.kind != LAB_ERR_NOT_FOUND || kinds[i].sure) {
			*err = this;
			return -1;
		}
	}
	return lab_error_set(err, LAB_ERR_NOT_FOUND,
			     "nothing here is named '%s': `labctl list KIND` has the names", name);
}

static int run_show(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	(void)options;
	if (!operands[1])
		return show_any(cli, operands[0], err);
	for (size_t i = 0; i < LAB_COUNT(kinds); i++) {
		if (strcmp(kinds[i].name, operands[0]) == 0)
			return show_as(cli, i, operands[1], err);
	}
	return lab_error_set(err, LAB_ERR_USAGE,
			     "cannot show '%s': it can be a run, campaign, experiment, kernel, "
			     "patchset or image",
			     operands[0]);
}

const struct cli_handler cmd_show = {run_show, NULL, 0};
