/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_TESTS_GOLDEN_H
#define LAB_TESTS_GOLDEN_H

/*
 * Golden files: what a pure function yields is compared with a file under tests/golden/.
 * UPDATE_GOLDEN=1 writes the file instead; the difference is then looked at in git.
 * Include after cmocka.h.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"

/* Prints the first line that differs, since memory dumps of text help nobody. */
static inline void golden_show(const char *path, const char *want, const char *got)
{
	size_t line = 1;

	while (*want && *want == *got) {
		line += *want == '\n';
		want++;
		got++;
	}
	fprintf(stderr,
		"%s:%zu differs (UPDATE_GOLDEN=1 rewrites it)\n  want: %.*s\n  got:  %.*s\n", path,
		line, (int)strcspn(want, "\n"), want, (int)strcspn(got, "\n"), got);
}

/* `name` is relative to tests/golden/. */
static inline void golden_check(const char *name, const char *data, size_t len)
{
	LAB_CLEANUP(free) char *path = lab_path_join("tests/golden", name);
	LAB_CLEANUP(buf) struct lab_buf want = LAB_BUF_INIT;
	struct lab_error err = {0};

	if (getenv("UPDATE_GOLDEN")) {
		if (lab_write_file(path, data, len, 0644, &err) < 0)
			fail_msg("%s", err.text);
		return;
	}
	if (lab_read_file(path, 16 << 20, &want, &err) < 0)
		fail_msg("%s", err.text);
	if (want.len == len && memcmp(want.data ? want.data : "", data, len) == 0)
		return;
	golden_show(path, want.data ? want.data : "", data);
	fail_msg("%s is not what was made", path);
}

#endif
