/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/welch.h"

#include <float.h>
#include <math.h>

#include "stats/distribution.h"

static void set_percent(const struct stats_summary *x, struct stats_welch *w)
{
	double scale = 100 / fabs(x->mean);

	if (x->mean == 0)
		return;
	w->percent = w->diff * scale;
	w->percent_low = w->low * scale;
	w->percent_high = w->high * scale;
}

/*
 * Welch-Satterthwaite: se^4 / (sx^4 / (nx - 1) + sy^4 / (ny - 1)), written with the
 * arms' shares of se^2 so that no power of a tiny or huge value leaves the range.
 */
static double degrees_of_freedom(double share_x, size_t nx, double share_y, size_t ny)
{
	return 1 / (share_x * share_x / (double)(nx - 1) + share_y * share_y / (double)(ny - 1));
}

static void test(const struct stats_summary *x, const struct stats_summary *y,
		 struct stats_welch *w)
{
	double sx = x->sd / sqrt((double)x->n);
	double sy = y->sd / sqrt((double)y->n);
	double half;

	w->se = hypot(sx, sy);
	if (w->se <= 10 * DBL_EPSILON * fmax(fabs(x->mean), fabs(y->mean))) {
		w->status = STATS_WELCH_CONSTANT;
		return;
	}
	w->t = w->diff / w->se;
	w->df = degrees_of_freedom(pow(sx / w->se, 2), x->n, pow(sy / w->se, 2), y->n);
	w->p = stats_t_two_sided(w->t, w->df);
	half = stats_t_half_width(w->level, w->df);
	w->low = (w->t - half) * w->se;
	w->high = (w->t + half) * w->se;
}

void stats_welch_summaries(const struct stats_summary *x, const struct stats_summary *y,
			   double level, struct stats_welch *ret)
{
	*ret = (struct stats_welch){
		.status = STATS_WELCH_OK,
		.diff = NAN,
		.se = NAN,
		.t = NAN,
		.df = NAN,
		.p = NAN,
		.level = level,
		.low = NAN,
		.high = NAN,
		.percent = NAN,
		.percent_low = NAN,
		.percent_high = NAN,
	};
	if (x->n && y->n)
		ret->diff = y->mean - x->mean;
	if (x->n < 2 || y->n < 2)
		ret->status = STATS_WELCH_TOO_FEW;
	else
		test(x, y, ret);
	set_percent(x, ret);
}

void stats_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
		 struct stats_welch *ret)
{
	struct stats_summary sx;
	struct stats_summary sy;

	stats_summarise(x, nx, &sx);
	stats_summarise(y, ny, &sy);
	stats_welch_summaries(&sx, &sy, level, ret);
}
