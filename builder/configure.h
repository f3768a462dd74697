/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_CONFIGURE_H
#define LAB_BUILDER_CONFIGURE_H

/*
 * What a kernel is configured from, and doing it. Both trees of a patchset are configured
 * from one plan; a finished .config is never carried from one to the other. Internal.
 */

#include "builder/build.h"
#include "builder/dotconfig.h"
#include "builder/kbuild.h"
#include "builder/repo.h"
#include "common/err.h"
#include "common/strv.h"

struct config_plan {
	char *base_name;       /* "tiny" or the file's path */
	struct dotconfig base; /* of a file: its answers; of "tiny": nothing (allnoconfig) */
	bool from_file;
	struct dotconfig asked; /* base fragment, target, fragments, --config; sorted */
	/*
	 * Symbols whose Kconfig entry the patchset changes and that nobody asked for: an
	 * answer carried in from the base would cancel a changed default, so each tree gives
	 * its own. Sorted.
	 */
	struct lab_strv left_to_default;
	struct lab_strv touched; /* all symbols whose entry the patchset changes */
};

int config_plan_make(const struct build_request *request, struct repo *repo, const char *tree_a,
		     const char *tree_b, struct config_plan *ret_plan,
		     struct lab_error *err) LAB_MUST_CHECK;
void config_plan_release(struct config_plan *plan);

static inline void lab_cleanup_config_plan(struct config_plan *plan)
{
	config_plan_release(plan);
}

/*
 * Configures the tree that is checked out; .config is written only when it differs.
 * A symbol that was asked for and is not in the result is an error that names what it
 * depends on, unless it is optional (then it is added to ret_dropped) or the patchset
 * brings it and this tree has no such symbol.
 */
int configure(const struct config_plan *plan, const struct kbuild *k, struct kbuild_stats *stats,
	      struct lab_strv *ret_dropped, struct lab_error *err) LAB_MUST_CHECK;

/* Pure: symbols of `changed` lines per file, both sides; see kconfig_touched(). */
int config_touched(struct repo *repo, const char *tree_a, const char *tree_b,
		   struct lab_strv *ret_symbols, struct lab_error *err) LAB_MUST_CHECK;

#endif
