/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STATS_DISTRIBUTION_H
#define LAB_STATS_DISTRIBUTION_H

/* The one door to libRmath: the very functions R uses. */

/* Probability that a t variable with df degrees of freedom is at least |t| away from 0. */
double stats_t_two_sided(double t, double df);
/* Half the width, in standard errors, of a two-sided interval at `level`. */
double stats_t_half_width(double level, double df);

#endif
