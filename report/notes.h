/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_NOTES_H
#define LAB_REPORT_NOTES_H

/* What the text and ab renderers say around their tables. */

#include "common/buf.h"
#include "report/model.h"
#include "report/render.h"

/* Campaign, kernels, state, and in capitals that times are emulated. */
void report_head(const struct report_model *model, const struct report_options *options,
		 struct lab_buf *out);
/* Runs that failed, are missing or were repeated; nothing when all are done. */
void report_foot(const struct report_model *model, struct lab_buf *out);

/*
 * What stands where an arm's mean would: NULL when it has boots, else the one state
 * that its runs ended in ("OOM killed"), "failed" for several, "-" when none was run.
 */
const char *report_no_mean(const struct report_model *model, const struct report_arm *arm,
			   size_t cell, size_t variant);

#endif
