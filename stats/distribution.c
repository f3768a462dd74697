/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/distribution.h"

#include <math.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

double stats_t_two_sided(double t, double df)
{
	return 2 * pt(-fabs(t), df, 1, 0);
}

double stats_t_half_width(double level, double df)
{
	/* As R writes it: qt(1 - alpha / 2, df) with alpha = 1 - level. */
	return qt(1 - (1 - level) / 2, df, 1, 0);
}
