/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_CONFIG_DIFF_H
#define LAB_BUILDER_CONFIG_DIFF_H

/* Which symbols two final .config files answer differently. */

#include <stddef.h>

#include "common/err.h"

/* Values are as in .config ("y", "m", "4", "\"text\""), "n" for "is not set", NULL: no such symbol. */
struct config_change {
	char *symbol; /* without CONFIG_ */
	char *a;
	char *b;
};

struct config_diff {
	struct config_change *items; /* sorted by symbol */
	size_t n, cap;
};

#define CONFIG_DIFF_INIT   \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Compares two config files. Symbols that only describe the toolchain or repeat the
 * version text are compared as well. ret_diff must be CONFIG_DIFF_INIT.
 */
int config_diff(const char *path_a, const char *path_b, struct config_diff *ret_diff,
		struct lab_error *err) LAB_MUST_CHECK;
void config_diff_release(struct config_diff *diff);

static inline void lab_cleanup_config_diff(struct config_diff *diff)
{
	config_diff_release(diff);
}

#endif
