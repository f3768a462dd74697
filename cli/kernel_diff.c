/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/kernel_diff.h"

json_t *kernel_diff_json(const struct config_diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->n; i++)
		json_array_append_new(array, json_pack("{s:s, s:s?, s:s?}", "symbol",
						       diff->items[i].symbol, "a", diff->items[i].a,
						       "b", diff->items[i].b));
	return array;
}

static void add_count(struct lab_buf *out, unsigned n, const char *word, const char **separator)
{
	if (!n)
		return;
	lab_buf_addf(out, "%s%u %s", *separator, n, word);
	*separator = ", ";
}

void kernel_diff_line(const struct config_diff *diff, size_t most, struct lab_buf *out)
{
	unsigned added = 0, dropped = 0, changed = 0;
	const char *separator = "(";

	if (diff->n == 0) {
		lab_buf_adds(out, "equal");
		return;
	}
	for (size_t i = 0; i < diff->n; i++) {
		const struct config_change *c = &diff->items[i];

		added += !c->a;
		dropped += c->a && !c->b;
		changed += c->a && c->b;
		if (i >= most)
			continue;
		if (!c->a)
			lab_buf_addf(out, "+%s=%s ", c->symbol, c->b);
		else if (!c->b)
			lab_buf_addf(out, "-%s=%s ", c->symbol, c->a);
		else
			lab_buf_addf(out, "%s=%s->%s ", c->symbol, c->a, c->b);
	}
	if (diff->n > most)
		lab_buf_adds(out, "... ");
	lab_buf_addc(out, ' ');
	add_count(out, added, "new", &separator);
	add_count(out, dropped, "dropped", &separator);
	add_count(out, changed, "changed", &separator);
	lab_buf_addc(out, ')');
}
