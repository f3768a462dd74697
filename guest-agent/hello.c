/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/hello.h"

#include <string.h>
#include <sys/utsname.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "guest-agent/disk.h"
#include "guest-agent/elfnote.h"
#include "protocol/message.h"

char *hello_agent_id(void)
{
	char hex[ELFNOTE_HEX] = "unknown";

	elfnote_own_build_id(hex);
	return lab_asprintf("%s+%s", LABCTL_VERSION, hex);
}

json_t *hello_make(const char *sysroot)
{
	LAB_CLEANUP(free) char *notes_path = lab_asprintf("%s/sys/kernel/notes", sysroot);
	LAB_CLEANUP(free) char *kernel_dir = lab_asprintf("%s/proc/sys/kernel", sysroot);
	LAB_CLEANUP(free) char *boot_id = disk_read_attribute(kernel_dir, "random/boot_id");
	LAB_CLEANUP(free) char *release = disk_read_attribute(kernel_dir, "osrelease");
	LAB_CLEANUP(free) char *agent = hello_agent_id();
	LAB_CLEANUP(buf) struct lab_buf notes = LAB_BUF_INIT;
	char hex[ELFNOTE_HEX] = "";
	struct utsname uts;

	if (lab_read_file(notes_path, 1 << 20, &notes, NULL) == 0)
		elfnote_build_id(notes.data, notes.len, hex);
	uname(&uts);
	return message_make_hello(&(struct message_hello){
		.protocol = MESSAGE_PROTOCOL,
		.agent = agent,
		.boot_id = boot_id && *boot_id ? boot_id : "unknown",
		.kernel_build_id = hex,
		.kernel_release = release && *release ? release : uts.release,
		.t_ns = (int64_t)lab_now_ns(),
	});
}
