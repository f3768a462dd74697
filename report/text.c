/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "report/compare.h"
#include "report/notes.h"
#include "report/number.h"
#include "report/render.h"
#include "report/wrap.h"

/* Label, n, A mean, B mean, change: 71 columns. */
#define LABEL_WIDTH 26
#define ROW "%-26s%6s%13s%13s%13s\n"

struct text_ctx {
	const struct report_model *model;
	const struct report_options *options;
	struct lab_buf *out;
};

static void add_metric_line(const struct text_ctx *ctx, size_t metric)
{
	const struct metric *m = &ctx->model->metrics.items[metric];
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	size_t boots = 0;
	size_t values = 0;

	/* The arms of one metric lie together, from its first cell and variant on. */
	for (size_t i = 0; i < ctx->model->n_cells * ctx->model->n_variants; i++) {
		const struct report_arm *arm = report_arm(ctx->model, metric, 0, i);

		boots += arm->n_boots;
		values += arm->pooled;
	}
	lab_buf_adds(&text, m->name);
	if (m->direction != '0')
		lab_buf_addf(&text, " (%c)", m->direction);
	if (*m->unit)
		lab_buf_addf(&text, ", %s", m->unit);
	/* With one value a boot the reducer has nothing to do. */
	if (values > boots)
		lab_buf_addf(&text, ", %s of each boot", metric_reducer_name(m->reducer));
	if (report_emulated(ctx->model, m))
		lab_buf_adds(&text, ", emulated");
	report_wrap(ctx->out, text.data, 4);
}

static char *row_label(const struct report_model *m, size_t cell, size_t b)
{
	const char *name = m->cells[cell];

	if (m->n_variants == 2 && *name)
		return lab_asprintf("  %s", name);
	return lab_asprintf("  %s%s%s against %s", name, *name ? ", " : "", m->variants[b].name,
			    m->variants[0].name);
}

static char *count_text(const struct report_arm *a, const struct report_arm *b)
{
	const char *mark = a->failed + a->missing + b->failed + b->missing ? "*" : "";

	if (a->n_boots == b->n_boots)
		return lab_asprintf("%zu%s", a->n_boots, mark);
	return lab_asprintf("%zu/%zu%s", a->n_boots, b->n_boots, mark);
}

static const char *mean_text(const struct report_model *m, const struct report_arm *arm,
			     size_t cell, size_t variant, double mean, char text[NUMBER_SIZE])
{
	const char *instead = report_no_mean(m, arm, cell, variant);

	return instead ? instead : number_short(mean, text);
}

static char *change_text(const struct report_comparison *c)
{
	char text[NUMBER_SIZE];

	if (isnan(c->welch.percent))
		return lab_strdup("-");
	number_signed(c->welch.percent, number_decimals(c->welch.percent, 2, 2), text);
	return lab_asprintf("%s %%", text);
}

/*
 * "[-1.90, 2.61] %": the same decimals for both ends, enough to tell the larger one, and
 * so many that an end that is not zero does not read as zero.
 */
static char *interval_text(double low, double high, int digits, int least, const char *unit)
{
	double larger = fmax(fabs(low), fabs(high));
	double smaller = fmin(fabs(low), fabs(high));
	int decimals = number_decimals(smaller, 1, number_decimals(larger, digits, least));
	char low_text[NUMBER_SIZE];
	char high_text[NUMBER_SIZE];

	return lab_asprintf("[%s, %s]%s%s", number_fixed(low, decimals, low_text),
			    number_fixed(high, decimals, high_text), *unit ? " " : "", unit);
}

static void add_verdict(const struct text_ctx *ctx, const struct report_comparison *c,
			const char *unit)
{
	LAB_CLEANUP(buf) struct lab_buf left = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *absolute = NULL;

	if (!report_verdict_has_interval(c->verdict)) {
		report_flush(ctx->out, "", c->word);
		return;
	}
	lab_buf_addf(&left, "    %g %%: ", c->welch.level * 100);
	if (!isnan(c->welch.percent_low)) {
		LAB_CLEANUP(free)
		char *percent =
			interval_text(c->welch.percent_low, c->welch.percent_high, 2, 2, "%");

		lab_buf_addf(&left, "%s  ", percent);
	}
	absolute = interval_text(c->welch.low, c->welch.high, 3, 0, unit);
	if (left.len + strlen(absolute) > REPORT_COLUMNS) {
		lab_buf_addc(&left, '\n');
		lab_buf_add(ctx->out, left.data, left.len);
		lab_buf_consume(&left, left.len);
		lab_buf_adds(&left, "    ");
	}
	lab_buf_adds(&left, absolute);
	report_flush(ctx->out, left.data, c->word);
}

static void add_row(const struct text_ctx *ctx, size_t metric, size_t cell, size_t b)
{
	const struct report_model *m = ctx->model;
	const struct report_arm *arm_a = report_arm(m, metric, cell, 0);
	const struct report_arm *arm_b = report_arm(m, metric, cell, b);
	LAB_CLEANUP(free) char *label = row_label(m, cell, b);
	LAB_CLEANUP(free) char *count = count_text(arm_a, arm_b);
	LAB_CLEANUP(free) char *change = NULL;
	struct report_comparison c;
	char mean_a[NUMBER_SIZE];
	char mean_b[NUMBER_SIZE];

	report_compare(m, metric, cell, 0, b, ctx->options, &c);
	change = change_text(&c);
	if (strlen(label) >= LABEL_WIDTH) {
		lab_buf_addf(ctx->out, "%s\n", label);
		label[0] = '\0';
	}
	lab_buf_addf(ctx->out, ROW, label, count, mean_text(m, arm_a, cell, 0, c.a.mean, mean_a),
		     mean_text(m, arm_b, cell, b, c.b.mean, mean_b), change);
	add_verdict(ctx, &c, m->metrics.items[metric].unit);
}

static void add_metric(const struct text_ctx *ctx, size_t metric)
{
	const struct report_model *m = ctx->model;

	add_metric_line(ctx, metric);
	if (report_emulated(m, &m->metrics.items[metric]) && !ctx->options->allow_emulated) {
		lab_buf_adds(ctx->out, "  not compared: a time of an emulated machine\n");
		return;
	}
	for (size_t cell = 0; cell < m->n_cells; cell++) {
		for (size_t b = 1; b < m->n_variants; b++)
			add_row(ctx, metric, cell, b);
	}
}

/* The heading names the arms when there are two; with more each row does. */
static void add_heading(const struct report_model *m, struct lab_buf *out)
{
	LAB_CLEANUP(free) char *a = lab_asprintf("%.8s mean", m->variants[0].name);
	LAB_CLEANUP(free)
	char *b = m->n_variants == 2 ? lab_asprintf("%.8s mean", m->variants[1].name)
				     : lab_strdup("its mean");

	lab_buf_addf(out, ROW, "", "n", a, b, "change");
}

int report_text(const struct report_model *model, const struct report_options *options,
		struct lab_buf *out, struct lab_error *err)
{
	struct report_options complete = report_options_complete(options);
	struct text_ctx ctx = {model, &complete, out};
	LAB_CLEANUP(buf) struct lab_buf foot = LAB_BUF_INIT;

	if (report_options_check(&complete, model, err) < 0 || report_need_arms(model, err) < 0)
		return -1;
	report_head(model, &complete, out);
	add_heading(model, out);
	for (size_t i = 0; i < model->metrics.n; i++) {
		if (report_options_want(&complete, &model->metrics.items[i]))
			add_metric(&ctx, i);
	}
	report_foot(model, &foot);
	if (foot.len)
		lab_buf_addf(out, "\n%s", foot.data);
	return 0;
}
