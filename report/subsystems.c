/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/subsystems.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"

#define FILE_MAX (64u << 20) /* bytes */

struct function {
	const char *name;
	const char *directory;
};

struct subsystems {
	char *text;
	struct function *items; /* by name */
	size_t n, cap;
};

void subsystems_free(struct subsystems *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->items);
	free(s);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

int subsystems_load(const char *path, struct subsystems **ret_subsystems, struct lab_error *err)
{
	LAB_CLEANUP(subsystems) struct subsystems *s = LAB_NEW(struct subsystems);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	char *line, *rest;

	if (lab_read_file(path, FILE_MAX, &text, err) < 0)
		return -1;
	s->text = lab_buf_take(&text);
	rest = s->text;
	while ((line = strsep(&rest, "\n"))) {
		char *tab = strchr(line, '\t');

		if (!tab)
			continue;
		*tab = '\0';
		LAB_GROW(s->items, s->n, s->cap);
		s->items[s->n++] = (struct function){line, tab + 1};
	}
	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), by_name);
	*ret_subsystems = LAB_TAKE(s);
	return 0;
}

const char *subsystems_of(const struct subsystems *s, const char *function)
{
	const struct function key = {function, NULL};
	const struct function *found =
		s->n ? bsearch(&key, s->items, s->n, sizeof(*s->items), by_name) : NULL;
	const struct function *end = s->items + s->n;

	if (!found)
		return NULL;
	if ((found > s->items && strcmp(found[-1].name, function) == 0) ||
	    (found + 1 < end && strcmp(found[1].name, function) == 0))
		return "(several)";
	return found->directory;
}
