/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_DOTCONFIG_H
#define LAB_BUILDER_DOTCONFIG_H

/* .config files and fragments of them. */

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

struct dotconfig_item {
	char *symbol; /* without CONFIG_ */
	char *value;  /* "y", "m", "n" (also "is not set"), a number, "\"text\"" */
	char *origin; /* where it stands: "tiny.config:12", "--config", "the target" */
	bool optional;
};

struct dotconfig {
	struct dotconfig_item *items; /* in order; dotconfig_sort makes it by symbol */
	size_t n, cap;
};

#define DOTCONFIG_INIT     \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Reads lines "CONFIG_X=value" (in a fragment with "?" behind it for optional) and
 * "# CONFIG_X is not set"; other comments are passed over, anything else is an error with
 * its line. `name` is for messages.
 */
int dotconfig_parse(const char *name, const char *text, struct dotconfig *ret_config,
		    struct lab_error *err) LAB_MUST_CHECK;
int dotconfig_load(const char *path, struct dotconfig *ret_config,
		   struct lab_error *err) LAB_MUST_CHECK;
/* One "X=y", "CONFIG_X=y" or "X=y?". */
int dotconfig_add(struct dotconfig *config, const char *assignment, const char *origin,
		  struct lab_error *err) LAB_MUST_CHECK;
/* Sorted by symbol, of several of one symbol only the last is kept. */
void dotconfig_sort(struct dotconfig *config);
/* In a sorted one; NULL when it is not there. */
const struct dotconfig_item *dotconfig_find(const struct dotconfig *config, const char *symbol);
/* As kconfig wants to read it. */
void dotconfig_format(const struct dotconfig *config, struct lab_buf *buf);
void dotconfig_release(struct dotconfig *config);

static inline void lab_cleanup_dotconfig(struct dotconfig *config)
{
	dotconfig_release(config);
}

/*
 * True when a configuration's value (NULL: no such symbol) is what was asked for. "n" is
 * also absence, and "m" is also had by "y".
 */
bool dotconfig_satisfied(const char *asked, const char *got);

#endif
