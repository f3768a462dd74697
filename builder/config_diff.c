/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/config_diff.h"

#include <stdlib.h>
#include <string.h>

#include "builder/dotconfig.h"
#include "common/mem.h"

static void add_change(struct config_diff *diff, const struct dotconfig_item *a,
		       const struct dotconfig_item *b)
{
	const struct dotconfig_item *known = a ? a : b;

	LAB_GROW(diff->items, diff->n, diff->cap);
	diff->items[diff->n++] = (struct config_change){
		.symbol = known ? lab_strdup(known->symbol) : NULL,
		.a = a ? lab_strdup(a->value) : NULL,
		.b = b ? lab_strdup(b->value) : NULL,
	};
}

int config_diff(const char *path_a, const char *path_b, struct config_diff *ret_diff,
		struct lab_error *err)
{
	LAB_CLEANUP(dotconfig) struct dotconfig a = DOTCONFIG_INIT;
	LAB_CLEANUP(dotconfig) struct dotconfig b = DOTCONFIG_INIT;
	size_t i = 0, k = 0;

	if (dotconfig_load(path_a, &a, err) < 0 || dotconfig_load(path_b, &b, err) < 0)
		return -1;
	dotconfig_sort(&a);
	dotconfig_sort(&b);
	while (i < a.n || k < b.n) {
		const struct dotconfig_item *x = i < a.n ? &a.items[i] : NULL;
		const struct dotconfig_item *y = k < b.n ? &b.items[k] : NULL;
		int c = !x ? 1 : !y ? -1 : strcmp(x->symbol, y->symbol);

		if (c != 0)
			add_change(ret_diff, c < 0 ? x : NULL, c < 0 ? NULL : y);
		else if (strcmp(x->value, y->value) != 0)
			add_change(ret_diff, x, y);
		i += c <= 0;
		k += c >= 0;
	}
	return 0;
}

void config_diff_release(struct config_diff *diff)
{
	for (size_t i = 0; i < diff->n; i++) {
		free(diff->items[i].symbol);
		free(diff->items[i].a);
		free(diff->items[i].b);
	}
	free(diff->items);
	*diff = (struct config_diff)CONFIG_DIFF_INIT;
}
