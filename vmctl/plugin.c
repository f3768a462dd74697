/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/plugin.h"

#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"

/* What the plugin itself says when it is loaded without its option. */
#define PLUGIN_SAYS "labctl-profile:"

enum { LOAD_MS = 10000 };

static int load(const char *emulator, const char *plugin, struct lab_proc_result *result,
		struct lab_error *err)
{
	LAB_CLEANUP(free) char *option = lab_asprintf("file=%s", plugin);
	const char *argv[] = {emulator,	     "-machine", "none",    "-display", "none",
			      "-nodefaults", "-S",	 "-plugin", option,	NULL};
	const struct lab_proc proc = {.argv = argv, .timeout_ms = LOAD_MS};

	return lab_proc_run(&proc, result, err);
}

int plugin_loads(const char *emulator, const char *plugin, struct lab_error *err)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const char *words;

	if (!lab_file_exists(plugin))
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "%s is missing: `make` builds it",
				     plugin);
	if (strchr(plugin, ','))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s: QEMU takes no plugin whose path has a comma", plugin);
	if (load(emulator, plugin, &result, err))
		return -1;
	words = result.err.data ? result.err.data : "";
	if (strstr(words, PLUGIN_SAYS))
		return 0;
	return lab_error_set(err, LAB_ERR_UNAVAILABLE,
			     "%s loads no plugins, so there is no profile (%.*s); everything else "
			     "works without --profile",
			     emulator, (int)strcspn(words, "\n"),
			     result.timed_out ? "no answer" : words);
}

int plugin_check(struct hypervisor *hv, const char *plugin, struct lab_error *err)
{
	const struct hypervisor_info *info;

	if (hypervisor_info(hv, &info, err))
		return -1;
	return plugin_loads(info->emulator, plugin, err);
}
