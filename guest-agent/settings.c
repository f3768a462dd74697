/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/settings.h"

#include <errno.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"

/*
 * As sysctl(8): dots separate, and a name whose first separator is a slash has
 * dots of its own ("net/ipv4/conf/eth0.1/forwarding"); with dots in front, slashes
 * stand for dots.
 */
char *setting_path(const char *sysroot, const struct job_setting *setting)
{
	size_t first = strcspn(setting->key, "./");
	char *path, *name;

	if (setting->kind == JOB_WRITE)
		return lab_asprintf("%s%s", sysroot, setting->key);
	path = lab_asprintf("%s/proc/sys/%s", sysroot, setting->key);
	name = path + strlen(path) - strlen(setting->key);
	for (; setting->key[first] == '.' && *name; name++) {
		if (*name == '.')
			*name = '/';
		else if (*name == '/')
			*name = '.';
	}
	return path;
}

int setting_apply(const char *sysroot, const struct job_setting *setting, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = setting_path(sysroot, setting);
	struct lab_error why = {0};

	if (lab_write_existing(path, setting->value, &why) == 0)
		return 0;
	return lab_error_set(err, LAB_ERR_FAILED, "%s = %s: %s", setting->key, setting->value,
			     why.errnum == ENOENT ? "this kernel has no such setting"
			     : why.errnum	  ? strerror(why.errnum)
						  : why.text);
}
