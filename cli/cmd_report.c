/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl compare, labctl report: a campaign's comparison in one of the formats. */
#include <string.h>

#include "cli/campaign_arg.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "common/num.h"
#include "common/strv.h"
#include "report/model.h"
#include "report/render.h"

struct report_args {
	const char *format;
	struct lab_strv metrics;
	const char *level;
	const char *threshold;
	const char *least_change;
	bool allow_emulated;
};

static int parse_number(const char *option, const char *text, double low, double high,
			double *ret_value, struct lab_error *err)
{
	if (!text)
		return 0;
	if (lab_parse_double(text, ret_value, err) < 0) {
		if (err)
			err->kind = LAB_ERR_USAGE;
		return lab_error_wrap(err, "--%s", option);
	}
	if (*ret_value <= low || *ret_value >= high)
		return lab_error_set(err, LAB_ERR_USAGE, "--%s %s: it lies between %g and %g",
				     option, text, low, high);
	return 0;
}

static int render(struct cli *cli, const struct report_args *args, const char *format_name,
		  const char *campaign, struct lab_error *err)
{
	LAB_CLEANUP(report_model) struct report_model *model = NULL;
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	const struct report_format *format;
	struct report_options options = {
		.allow_emulated = args->allow_emulated,
		.metrics = (const char *const *)args->metrics.items,
		.n_metrics = args->metrics.n,
	};
	int64_t id;

	if (report_format_find(cli->common.json ? "json" : format_name, &format, err) < 0)
		return -1;
	if (parse_number("level", args->level, 0, 1, &options.level, err) < 0 ||
	    parse_number("threshold", args->threshold, 0, 1e6, &options.threshold, err) < 0 ||
	    parse_number("least-change", args->least_change, 0, 1e6, &options.least_change, err) <
		    0)
		return -1;
	if (campaign_arg(cli->lab, campaign, &id, err) < 0 ||
	    report_model_load(cli->lab, id, &model, err) < 0 ||
	    format->render(model, &options, &out, err) < 0)
		return -1;
	cli_print_buf(cli, &out);
	return CLI_EXIT_OK;
}

static int run_compare(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	return render(cli, options, "text", operands[0], err);
}

static int run_report(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct report_args *args = options;

	return render(cli, args, args->format ? args->format : "text", operands[0], err);
}

#define AT(member) offsetof(struct report_args, member)

static const struct cli_option compare_options[] = {
	{CLI_OPTION_LIST, 'm', "metric", "PATTERN",
	 "only metrics that match, like 'S*' (repeatable)", AT(metrics), NULL},
	{CLI_OPTION_STR, 0, "level", "P", "of the intervals (0.95)", AT(level), NULL},
	{CLI_OPTION_FLAG, 0, "allow-emulated", NULL, "compare emulated times too, marked",
	 AT(allow_emulated), NULL},
	CLI_OPTION_END,
};

static const struct cli_option report_options[] = {
	{CLI_OPTION_STR, 'f', "format", "NAME", "text (default), ab, json or csv", AT(format),
	 NULL},
	{CLI_OPTION_LIST, 'm', "metric", "PATTERN",
	 "only metrics that match, like 'S*' (repeatable)", AT(metrics), NULL},
	{CLI_OPTION_STR, 0, "level", "P", "of the intervals (0.95)", AT(level), NULL},
	{CLI_OPTION_STR, 0, "threshold", "PERCENT", "ab: flag means that got worse by more (10)",
	 AT(threshold), NULL},
	{CLI_OPTION_STR, 0, "least-change", "PERCENT", "ab: leave out means that moved less",
	 AT(least_change), NULL},
	{CLI_OPTION_FLAG, 0, "allow-emulated", NULL, "compare emulated times too, marked",
	 AT(allow_emulated), NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_compare = {run_compare, compare_options, sizeof(struct report_args)};
const struct cli_handler cmd_report = {run_report, report_options, sizeof(struct report_args)};
