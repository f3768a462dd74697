/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_ARCHIVE_PATH_H
#define LAB_ARCHIVE_PATH_H

/* Names inside of archives; internal to archive/. */

#include <stdbool.h>

#include "common/err.h"

/*
 * A path of an archive without "./", doubled and closing slashes; "." when nothing is
 * left. Absolute paths are refused, or lose their slash with `drop_root`. Paths with a
 * ".." component are refused. Caller frees.
 */
int archive_clean_path(const char *path, bool drop_root, char **ret_path,
		       struct lab_error *err) LAB_MUST_CHECK;

/*
 * True when a symbolic link at `path` (clean) to `target` stays inside of the top whatever
 * other links of that kind lie there: relative, and ".." only at its beginning and at most
 * as often as `path` is deep. Later ".." would step up from wherever a link led.
 */
bool archive_link_stays_inside(const char *path, const char *target);

#endif
