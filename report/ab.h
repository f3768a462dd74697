/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_AB_H
#define LAB_REPORT_AB_H

/*
 * The A/B table itself, from summaries: rows of an arm and rows of changes. Kept apart
 * from the model so that published tables, of which only summaries are known, can be
 * set with it too.
 */

#include <stdbool.h>

#include "common/buf.h"
#include "common/cleanup.h"
#include "stats/summary.h"

struct ab_table;

struct ab_table *ab_table_new(void);
void ab_table_free(struct ab_table *table);
LAB_DEFINE_CLEANUP(ab_table, struct ab_table, ab_table_free)

/* A line with only a label: the metric's name. */
void ab_table_title(struct ab_table *table, const char *label);
/* An arm. With n = 0 the columns hold `instead` under MEAN and "-" elsewhere. */
void ab_table_arm(struct ab_table *table, const char *label, const struct stats_summary *s,
		  const char *instead);
/*
 * The change from a to b: (b - a) / |a| per column, the direction ('+', '-' or '0') in
 * words, and the flag in front when the mean is worse by more than `threshold` percent.
 */
void ab_table_change(struct ab_table *table, const struct stats_summary *a,
		     const struct stats_summary *b, char direction, double threshold);
/* Sets the table: columns as wide as they need to be. */
void ab_table_render(const struct ab_table *table, struct lab_buf *out);

#define AB_REGRESSED "!! REGRESSED !!"

/* The rule of the flag. A point estimate: no test is behind it. */
bool ab_regressed(const struct stats_summary *a, const struct stats_summary *b, char direction,
		  double threshold);
/* "+ is good", "- is good", "<not defined>". */
const char *ab_direction(char direction);
/* Size of the change of the mean in percent; infinite when a's is 0 and b's is not. */
double ab_mean_change(const struct stats_summary *a, const struct stats_summary *b);

#endif
