/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/talk.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"

void talk(const struct run_progress *progress, const char *topic, const char *fmt, ...)
{
	char text[600];
	va_list args;

	if (!progress || !progress->say)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	progress->say(progress->ctx, topic, text);
}

bool talk_cancelled(const struct run_progress *progress)
{
	return progress && progress->cancelled && progress->cancelled(progress->ctx);
}

char *talk_data_path(const struct experiment *experiment, const char *dir, const char *name,
		     const char *suffix)
{
	size_t above = (size_t)(lab_path_base(experiment->path) - experiment->path);

	if (*name == '/')
		return lab_strdup(name);
	if (strchr(name, '/'))
		return lab_asprintf("%.*s%s", (int)above, experiment->path, name);
	return lab_asprintf("%s/%s%s", dir ? dir : ".", name,
			    lab_ends_with(name, suffix) ? "" : suffix);
}
