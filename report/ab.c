/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/ab.h"

#include <math.h>

#include "common/mem.h"
#include "report/compare.h"
#include "report/notes.h"
#include "report/render.h"
#include "report/wrap.h"

struct ab_ctx {
	const struct report_model *model;
	const struct report_options *options;
	struct ab_table *table;
	bool flagged;
	size_t left_out; /* by the filter */
	size_t refused;
};

static void summary_of(const struct report_arm *arm, struct stats_summary *ret)
{
	size_t n;
	LAB_CLEANUP(free) double *values = report_arm_pooled(arm, &n);

	stats_summarise(values, n, ret);
}

static void add_arm(struct ab_ctx *ctx, size_t metric, size_t cell, size_t variant,
		    const struct stats_summary *s)
{
	const struct report_model *m = ctx->model;
	const struct report_arm *arm = report_arm(m, metric, cell, variant);
	const struct report_variant *v = &m->variants[variant];
	const char *instead = report_no_mean(m, arm, cell, variant);
	LAB_CLEANUP(buf) struct lab_buf label = LAB_BUF_INIT;

	lab_buf_addf(&label, "  (%s) %s%s%zu boot%s", v->name, v->label, *v->label ? ", " : "",
		     arm->n_boots, arm->n_boots == 1 ? "" : "s");
	if (arm->failed)
		lab_buf_addf(&label, ", %zu failed", arm->failed);
	if (arm->missing)
		lab_buf_addf(&label, ", %zu missing", arm->missing);
	ab_table_arm(ctx->table, label.data, s, instead ? instead : "-");
}

/* The filter looks at changes only: an arm without a value is shown. */
static bool is_small(const struct ab_ctx *ctx, const struct stats_summary *arms)
{
	for (size_t v = 1; v < ctx->model->n_variants; v++) {
		if (!arms[0].n || !arms[v].n ||
		    ab_mean_change(&arms[0], &arms[v]) >= ctx->options->least_change)
			return false;
	}
	return true;
}

static void add_cell(struct ab_ctx *ctx, size_t metric, size_t cell)
{
	const struct report_model *m = ctx->model;
	const struct metric *what = &m->metrics.items[metric];
	const char *mark = report_emulated(m, what) ? " (emulated)" : "";
	LAB_CLEANUP(free)
	struct stats_summary *arms = LAB_NEW_ARRAY(struct stats_summary, m->n_variants);
	LAB_CLEANUP(free)
	char *title = lab_asprintf("%s%s%s%s", what->name, *m->cells[cell] ? " @ " : "",
				   m->cells[cell], mark);
	/* A metric whose meaning changes with the kernel is neither better nor worse. */
	char direction = what->comparable ? what->direction : '0';

	for (size_t v = 0; v < m->n_variants; v++)
		summary_of(report_arm(m, metric, cell, v), &arms[v]);
	if (is_small(ctx, arms)) {
		ctx->left_out++;
		return;
	}
	ab_table_title(ctx->table, title);
	add_arm(ctx, metric, cell, 0, &arms[0]);
	for (size_t v = 1; v < m->n_variants; v++) {
		add_arm(ctx, metric, cell, v, &arms[v]);
		ab_table_change(ctx->table, &arms[0], &arms[v], direction, ctx->options->threshold);
		ctx->flagged = ctx->flagged ||
			       ab_regressed(&arms[0], &arms[v], direction, ctx->options->threshold);
	}
}

static void add_notes(const struct ab_ctx *ctx, struct lab_buf *out)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	report_wrap(out,
		    "COUNT counts all values of all boots together; the number of boots, which is "
		    "what an interval rests on, stands beside the kernel.",
		    2);
	if (ctx->flagged) {
		lab_buf_addf(&text,
			     AB_REGRESSED " is a rule on the point estimate: the mean is worse by "
					  "more than %g %%. No test is behind it; --format text "
					  "has the intervals.",
			     ctx->options->threshold);
		report_wrap(out, text.data, 2);
	}
	lab_buf_consume(&text, text.len);
	if (ctx->left_out) {
		lab_buf_addf(&text, "%zu left out: the mean moved by less than %g %%.",
			     ctx->left_out, ctx->options->least_change);
		report_wrap(out, text.data, 2);
	}
	lab_buf_consume(&text, text.len);
	if (ctx->refused) {
		lab_buf_addf(&text, "%zu metric%s left out: times of an emulated machine.",
			     ctx->refused, ctx->refused == 1 ? "" : "s");
		report_wrap(out, text.data, 2);
	}
}

int report_ab(const struct report_model *model, const struct report_options *options,
	      struct lab_buf *out, struct lab_error *err)
{
	struct report_options complete = report_options_complete(options);
	LAB_CLEANUP(ab_table) struct ab_table *table = ab_table_new();
	struct ab_ctx ctx = {.model = model, .options = &complete, .table = table};

	if (report_options_check(&complete, model, err) < 0 || report_need_arms(model, err) < 0)
		return -1;
	for (size_t i = 0; i < model->metrics.n; i++) {
		const struct metric *metric = &model->metrics.items[i];

		if (!report_options_want(&complete, metric))
			continue;
		if (report_emulated(model, metric) && !complete.allow_emulated) {
			ctx.refused++;
			continue;
		}
		for (size_t cell = 0; cell < model->n_cells; cell++)
			add_cell(&ctx, i, cell);
	}
	report_head(model, &complete, out);
	ab_table_render(table, out);
	lab_buf_addc(out, '\n');
	add_notes(&ctx, out);
	report_foot(model, out);
	return 0;
}
