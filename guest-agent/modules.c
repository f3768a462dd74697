/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"

#define LIST "/modules.list"
#define COMPRESSED 4 /* MODULE_INIT_COMPRESSED_FILE, Linux 5.17 */

/* A line is a path, then the module's parameters. */
static int load(const char *line)
{
	LAB_CLEANUP(free) char *path = lab_strndup(line, strcspn(line, " "));
	const char *parameters = line + strlen(path) + (line[strlen(path)] == ' ');
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, parameters,
		    lab_ends_with(path, ".ko") ? 0 : COMPRESSED) == 0 ||
	    errno == EEXIST)
		return 0;
	return errno;
}

void modules_load(struct agent *agent, bool (*enough)(void *ctx), void *ctx)
{
	static size_t loaded; /* lines of the list that were dealt with */
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;

	if (lab_read_file(LIST, 1 << 20, &text, NULL) < 0 || !text.data)
		return;
	lab_strv_split(&lines, text.data, "\n");
	for (; loaded < lines.n && !(enough && enough(ctx)); loaded++) {
		int errnum = load(lines.items[loaded]);

		if (errnum)
			agent_say(agent, "module %s: %s", lines.items[loaded], strerror(errnum));
	}
}
