/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl profile: what the patchset costs or saves, by kernel function. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/campaign_arg.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "common/mem.h"
#include "report/model.h"
#include "report/profile.h"

struct profile_args {
	const char *cell;
	uint64_t top;
	bool all;
	bool by_subsystem;
};

enum { TOP_DEFAULT = 20 };

/* What is shown: one profile, or two and their difference. */
struct sides {
	struct profile a, b;
	char *name_a, *name_b; /* b: NULL when there is one only */
	char *cell;	       /* NULL: of runs */
};

static void sides_release(struct sides *s)
{
	profile_release(&s->a);
	profile_release(&s->b);
	free(s->name_a);
	free(s->name_b);
	free(s->cell);
}

static enum profile_by by(const struct profile_args *args)
{
	return args->by_subsystem ? PROFILE_BY_SUBSYSTEM : PROFILE_BY_FUNCTION;
}

static int run_side(struct cli *cli, const struct profile_args *args, const char *text,
		    struct profile *ret, char **ret_name, struct lab_error *err)
{
	struct run_name name;

	if (!run_name_parse(text, &name) || !name.number)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "'%s' is no run: it is written CAMPAIGN.NUMBER, like 7.41",
				     text);
	*ret_name = lab_strdup(text);
	return profile_of_run(cli->lab, name.campaign, name.number, by(args), ret, err);
}

static int choose_cell(const struct report_model *m, const char *asked, const char **ret,
		       struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf names = LAB_BUF_INIT;

	*ret = m->n_cells == 1 ? m->cells[0] : NULL;
	for (size_t i = 0; i < m->n_cells; i++) {
		lab_buf_addf(&names, "%s%s", i ? ", " : "", m->cells[i]);
		if (asked && strcmp(m->cells[i], asked) == 0)
			*ret = m->cells[i];
	}
	if (*ret && (!asked || strcmp(*ret, asked) == 0))
		return 0;
	if (!asked)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "campaign %" PRId64 " has several cells, choose one with "
				     "--cell: %s",
				     m->campaign, names.data);
	return lab_error_set(err, LAB_ERR_USAGE, "campaign %" PRId64 " has no cell '%s'%s%s",
			     m->campaign, asked, *m->cells[0] ? "; it has " : ": it has no factors",
			     *m->cells[0] ? names.data : "");
}

static int campaign_sides(struct cli *cli, const struct profile_args *args, const char *text,
			  struct sides *s, struct lab_error *err)
{
	LAB_CLEANUP(report_model) struct report_model *model = NULL;
	const char *cell;
	int64_t id;

	if (campaign_arg(cli->lab, text, &id, err) < 0 ||
	    report_model_load(cli->lab, id, &model, err) < 0 ||
	    choose_cell(model, args->cell, &cell, err) < 0)
		return -1;
	s->cell = lab_strdup(cell);
	s->name_a = lab_strdup(model->variants[0].name);
	if (profile_of_variant(cli->lab, id, s->name_a, cell, by(args), &s->a, err) < 0)
		return -1;
	if (model->n_variants < 2)
		return 0;
	s->name_b = lab_strdup(model->variants[1].name);
	return profile_of_variant(cli->lab, id, s->name_b, cell, by(args), &s->b, err);
}

static int fill(struct cli *cli, const struct profile_args *args, char **operands, struct sides *s,
		struct lab_error *err)
{
	struct run_name name;

	if (operands[0] && !run_name_parse(operands[0], &name))
		return lab_error_set(err, LAB_ERR_USAGE,
				     "'%s' is neither a campaign, like 7, nor a run, like 7.41",
				     operands[0]);
	if (!operands[0] || (run_name_parse(operands[0], &name) && !name.number && !operands[1]))
		return campaign_sides(cli, args, operands[0], s, err);
	if (args->cell)
		return lab_error_set(err, LAB_ERR_USAGE, "--cell is for campaigns, a run has one");
	if (run_side(cli, args, operands[0], &s->a, &s->name_a, err) < 0)
		return -1;
	return operands[1] ? run_side(cli, args, operands[1], &s->b, &s->name_b, err) : 0;
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *side_json(const struct profile *p, const char *name)
{
	return json_pack("{s:s, s:i, s:o, s:o, s:o}", "name", name, "boots", (int)p->boots,
			 "counted", number(p->counted), "executed", number(p->executed), "guest_ns",
			 number(p->guest_ns));
}

static json_t *sides_json(const struct sides *s)
{
	size_t n;
	LAB_CLEANUP(free)
	struct profile_line *lines = profile_lines(&s->a, s->name_b ? &s->b : NULL, &n);
	json_t *functions = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			functions, s->name_b ? json_pack("{s:s, s:f, s:f}", "name", lines[i].name,
							 "a", lines[i].a, "b", lines[i].b)
					     : json_pack("{s:s, s:f}", "name", lines[i].name, "a",
							 lines[i].a));
	return json_pack("{s:s?, s:o, s:o, s:o}", "cell", s->cell, "a", side_json(&s->a, s->name_a),
			 "b", s->name_b ? side_json(&s->b, s->name_b) : json_null(), "functions",
			 functions);
}

static void print_sides(struct cli *cli, const struct profile_args *args, const struct sides *s)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	lab_buf_adds(&out, "instructions executed in the run phase");
	if (s->cell && *s->cell)
		lab_buf_addf(&out, ", cell %s", s->cell);
	if (s->cell && s->name_b)
		lab_buf_addf(&out, "\nmean of %u boots of %s and %u of %s", s->a.boots, s->name_a,
			     s->b.boots, s->name_b);
	lab_buf_adds(&out, "\n\n");
	profile_text(&s->a, s->name_a, s->name_b ? &s->b : NULL, s->name_b, by(args),
		     args->all	 ? 0
		     : args->top ? args->top
				 : TOP_DEFAULT,
		     &out);
	cli_print_buf(cli, &out);
}

static int run_profile(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	struct profile_args *args = options;
	struct sides s = {0};
	int ret = -1;

	if (fill(cli, args, operands, &s, err) < 0)
		goto out;
	ret = CLI_EXIT_OK;
	if (cli->common.json)
		ret = cli_print_json(cli, sides_json(&s), err);
	else
		print_sides(cli, args, &s);
out:
	sides_release(&s);
	return ret;
}

#define AT(member) offsetof(struct profile_args, member)

static const struct cli_option profile_options[] = {
	{CLI_OPTION_STR, 0, "cell", "CELL", "of a campaign with factors", AT(cell), NULL},
	{CLI_OPTION_FLAG, 0, "by-subsystem", NULL, "by directory of the kernel's source",
	 AT(by_subsystem), NULL},
	{CLI_OPTION_UINT, 0, "top", "N", "how many functions (20)", AT(top), NULL},
	{CLI_OPTION_FLAG, 0, "all", NULL, "every function", AT(all), NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_profile = {run_profile, profile_options, sizeof(struct profile_args)};
