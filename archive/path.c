/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/path.h"

#include <string.h>

#include "common/buf.h"
#include "common/mem.h"

/* The next component from *at on: its begin, and its length in len; NULL at the end. */
static const char *next_component(const char **at, size_t *len)
{
	const char *begin = *at + strspn(*at, "/");

	*len = strcspn(begin, "/");
	*at = begin + *len;
	return *len ? begin : NULL;
}

static bool is_dot(const char *name, size_t len)
{
	return len == 1 && name[0] == '.';
}

static bool is_dotdot(const char *name, size_t len)
{
	return len == 2 && name[0] == '.' && name[1] == '.';
}

int archive_clean_path(const char *path, bool drop_root, char **ret_path, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf clean = LAB_BUF_INIT;
	const char *at = path, *name;
	size_t len;

	if (*path == '/' && !drop_root)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is an absolute path", path);
	while ((name = next_component(&at, &len))) {
		if (is_dotdot(name, len))
			return lab_error_set(err, LAB_ERR_INVALID, "'%s' leads out by '..'", path);
		if (is_dot(name, len))
			continue;
		if (clean.len)
			lab_buf_addc(&clean, '/');
		lab_buf_add(&clean, name, len);
	}
	if (!clean.len)
		lab_buf_addc(&clean, '.');
	*ret_path = lab_buf_take(&clean);
	return 0;
}

bool archive_link_stays_inside(const char *path, const char *target)
{
	bool went_down = false;
	size_t depth = 0, len;
	const char *name;

	if (*target == '/' || !*target)
		return false;
	for (const char *p = path; *p; p++)
		depth += *p == '/';
	while ((name = next_component(&target, &len))) {
		if (is_dot(name, len))
			continue;
		if (!is_dotdot(name, len))
			went_down = true;
		else if (went_down || depth-- == 0)
			return false;
	}
	return true;
}
