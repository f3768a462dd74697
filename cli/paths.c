/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/paths.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"

/* The directory above the one that the running program lies in. */
static int program_prefix(char **ret_prefix, struct lab_error *err)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (len < 0)
		return lab_error_errno(err, errno, "cannot read /proc/self/exe");
	exe[len] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(exe, '/');
		if (!slash)
			return lab_error_set(err, LAB_ERR_FAILED, "strange program path '%s'", exe);
		*slash = '\0';
	}
	*ret_prefix = lab_strdup(exe);
	return 0;
}

int cli_paths_init(struct cli_paths *paths, struct lab_error *err)
{
	LAB_CLEANUP(free) char *prefix = NULL;
	LAB_CLEANUP(free) char *data = NULL;
	const char *given = getenv("LABCTL_DATA");

	if (program_prefix(&prefix, err) < 0)
		return -1;
	data = given && given[0] ? lab_strdup(given) : lab_path_join(prefix, "share/labctl");
	paths->recipes = lab_path_join(data, "recipes");
	paths->definitions = lab_path_join(data, "definitions");
	paths->fragments = lab_path_join(data, "fragments");
	paths->agent = lab_path_join(prefix, "libexec/labctl/labctl-agent");
	paths->plugin = lab_path_join(prefix, "libexec/labctl/labctl-profile.so");
	return 0;
}

void cli_paths_release(struct cli_paths *paths)
{
	free(paths->recipes);
	free(paths->definitions);
	free(paths->fragments);
	free(paths->agent);
	free(paths->plugin);
	memset(paths, 0, sizeof(*paths));
}
