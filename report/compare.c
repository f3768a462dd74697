/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/compare.h"

#include <fnmatch.h>
#include <math.h>

#include "common/buf.h"
#include "common/mem.h"

static const struct {
	const char *word;
	bool interval;
} verdicts[REPORT_VERDICTS] = {
	[REPORT_REFUSED] = {"emulated time", false},
	[REPORT_NO_DATA] = {"no data", false},
	[REPORT_NOT_COMPARABLE] = {"not comparable", false},
	[REPORT_TOO_FEW] = {"needs 3 boots", false},
	[REPORT_IDENTICAL] = {"identical", false},
	[REPORT_NO_SPREAD] = {"no spread", false},
	[REPORT_NOT_SIGNIFICANT] = {"no significance", true},
	[REPORT_BETTER] = {"better", true},
	[REPORT_WORSE] = {"worse", true},
	[REPORT_MORE] = {"more", true},
	[REPORT_LESS] = {"less", true},
};

const char *report_verdict_word(enum report_verdict verdict)
{
	return verdicts[verdict].word;
}

bool report_verdict_has_interval(enum report_verdict verdict)
{
	return verdicts[verdict].interval;
}

bool report_emulated(const struct report_model *model, const struct metric *metric)
{
	return model->emulated && metric_is_timed(metric);
}

static enum report_verdict significant(const struct metric *metric, double diff)
{
	if (metric->direction == '0')
		return diff > 0 ? REPORT_MORE : REPORT_LESS;
	return (metric->direction == '+') == (diff > 0) ? REPORT_BETTER : REPORT_WORSE;
}

static enum report_verdict judge(const struct report_model *model, const struct metric *metric,
				 const struct report_options *options,
				 const struct report_comparison *c)
{
	const struct stats_welch *w = &c->welch;

	if (report_emulated(model, metric) && !options->allow_emulated)
		return REPORT_REFUSED;
	if (!c->a.n || !c->b.n)
		return REPORT_NO_DATA;
	if (!metric->comparable)
		return REPORT_NOT_COMPARABLE;
	if (c->a.n < REPORT_FEWEST_BOOTS || c->b.n < REPORT_FEWEST_BOOTS)
		return REPORT_TOO_FEW;
	if (w->status == STATS_WELCH_CONSTANT)
		return w->diff == 0 ? REPORT_IDENTICAL : REPORT_NO_SPREAD;
	/* A bound on zero itself still includes it. */
	if (w->low <= 0 && w->high >= 0)
		return REPORT_NOT_SIGNIFICANT;
	return significant(metric, w->diff);
}

void report_compare(const struct report_model *model, size_t metric, size_t cell, size_t a,
		    size_t b, const struct report_options *options, struct report_comparison *ret)
{
	size_t n_a;
	size_t n_b;
	LAB_CLEANUP(free)
	double *values_a = report_arm_boots(report_arm(model, metric, cell, a), &n_a);
	LAB_CLEANUP(free)
	double *values_b = report_arm_boots(report_arm(model, metric, cell, b), &n_b);

	stats_summarise(values_a, n_a, &ret->a);
	stats_summarise(values_b, n_b, &ret->b);
	stats_welch_summaries(&ret->a, &ret->b, options->level, &ret->welch);
	ret->verdict = judge(model, &model->metrics.items[metric], options, ret);
	ret->word = report_verdict_word(ret->verdict);
}

struct report_options report_options_complete(const struct report_options *options)
{
	struct report_options complete = options ? *options : (struct report_options){0};

	if (complete.level == 0)
		complete.level = 0.95;
	if (complete.threshold == 0)
		complete.threshold = 10;
	return complete;
}

bool report_options_want(const struct report_options *options, const struct metric *metric)
{
	for (size_t i = 0; i < options->n_metrics; i++) {
		if (fnmatch(options->metrics[i], metric->name, 0) == 0)
			return true;
	}
	return options->n_metrics == 0;
}

int report_need_arms(const struct report_model *model, struct lab_error *err)
{
	if (model->n_variants > 1)
		return 0;
	return lab_error_set(err, LAB_ERR_INVALID,
			     "campaign %lld has one variant only: there is nothing to compare",
			     (long long)model->campaign);
}

static int check_pattern(const char *pattern, const struct report_model *model,
			 struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf names = LAB_BUF_INIT;

	for (size_t i = 0; i < model->metrics.n; i++) {
		const char *name = model->metrics.items[i].name;

		if (fnmatch(pattern, name, 0) == 0)
			return 0;
		lab_buf_addf(&names, "%s%s", i ? ", " : "", name);
	}
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "campaign %lld has no metric '%s'; it has: %s",
			     (long long)model->campaign, pattern, names.len ? names.data : "none");
}

int report_options_check(const struct report_options *options, const struct report_model *model,
			 struct lab_error *err)
{
	if (!(options->level > 0 && options->level < 1))
		return lab_error_set(err, LAB_ERR_USAGE,
				     "an interval's level lies between 0 and 1, not at %g",
				     options->level);
	for (size_t i = 0; i < options->n_metrics; i++) {
		if (check_pattern(options->metrics[i], model, err) < 0)
			return -1;
	}
	return 0;
}
