/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_TALK_H
#define LAB_EXPERIMENTS_TALK_H

/* Small things that the files of the runner share. Not for other folders. */

#include <stdbool.h>

#include "experiments/definition.h"
#include "experiments/runner.h"

/* progress->say, if there is one. */
void talk(const struct run_progress *progress, const char *topic, const char *fmt, ...)
	LAB_PRINTF(3, 4);
bool talk_cancelled(const struct run_progress *progress);

/*
 * Where a recipe or fragment lies: DIR/NAME + suffix; a name with a slash is a path,
 * relative to the definition that says it. Caller frees.
 */
char *talk_data_path(const struct experiment *experiment, const char *dir, const char *name,
		     const char *suffix);

#endif
