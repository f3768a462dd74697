/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a live run leaves behind for its fingerprint and for the doubtful reader. */
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "vmctl/hostload.h"
#include "vmctl/live.h"

enum { COMMAND_LINE_CAP = 1 << 20 };

/* Above this share of all CPU time another virtual machine or its host disturbed the run. */
static const double STEAL_LIMIT = 2.0;

static void read_command_line(struct live *live)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct lab_error ignored;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)live->pid);
	if (!live->pid || lab_read_file(path, COMMAND_LINE_CAP, &text, &ignored))
		return;
	for (size_t i = 0; i < text.len; i += strlen(text.data + i) + 1)
		lab_strv_add(&live->command_line, text.data + i);
}

void live_note_start(struct live *live)
{
	read_command_line(live);
	live->others_before = host_count_qemu("", live->pid);
	live->load_before = host_load_read("");
}

static json_t *strings(const struct lab_strv *v)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(ret, json_string(v->items[i]));
	return ret;
}

static json_t *volumes(const struct live *live)
{
	json_t *ret = json_array();

	for (unsigned i = 0; i < live->desc.n_disks; i++) {
		const struct domain_disk *d = &live->disks[i];

		json_array_append_new(
			ret, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:I, s:s*}", "serial",
				       d->volume.serial, "bus",
				       d->volume.bus == VOLUME_NVME ? "nvme" : "virtio", "format",
				       d->volume.format == VOLUME_QCOW2 ? "qcow2" : "raw", "cache",
				       d->direct ? "none" : "writeback", "aio",
				       d->direct ? "native" : "threads", "readonly",
				       d->volume.readonly, "bytes", (json_int_t)d->volume.bytes,
				       "backing", d->volume.backing));
	}
	return ret;
}

static json_t *host(struct live *live)
{
	json_t *after = host_load_read("");
	json_t *between = host_load_between(live->load_before, after);
	double steal = json_number_value(json_object_get(between, "steal_percent"));
	unsigned others = host_count_qemu("", live->pid);

	if (steal > STEAL_LIMIT)
		live_warn(live, "%.1f %% of this host's CPU time was stolen during the run", steal);
	if (others || live->others_before)
		live_warn(live, "%u other virtual machines ran on this host",
			  others > live->others_before ? others : live->others_before);
	return json_pack("{s:O, s:o, s:o, s:i, s:i}", "before", live->load_before, "after", after,
			 "during", between, "others_before", (int)live->others_before,
			 "others_after", (int)others);
}

int live_collect(struct machine *machine, json_t **ret_facts, struct lab_error *err)
{
	struct live *live = (struct live *)machine;
	const struct domain_desc *d = &live->desc;
	char libvirt[32], cpu[100];
	json_t *facts;

	snprintf(libvirt, sizeof(libvirt), "%lu.%lu.%lu", live->info->libvirt / 1000000,
		 live->info->libvirt / 1000 % 1000, live->info->libvirt % 1000);
	snprintf(cpu, sizeof(cpu), "%s%s%s", d->cpu_model ? d->cpu_model : "host-passthrough",
		 d->cpu_feature ? ",+" : "", d->cpu_feature ? d->cpu_feature : "");
	facts = json_pack("{s:s, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:s, s:s}",
			  "target", live->machine.target->name, "emulated", !live->kvm,
			  "accelerator", live->kvm ? "kvm" : "tcg", "qemu", live->info->qemu,
			  "libvirt", libvirt, "connect", live->info->uri, "machine", d->machine,
			  "cpu", cpu, "vcpus", (int)d->vcpus, "memory", (json_int_t)d->memory,
			  "cmdline", d->cmdline, "domain_xml", LIVE_DOMAIN, "console",
			  LIVE_CONSOLE);
	if (!facts)
		return lab_error_set(err, LAB_ERR_FAILED, "%s: facts are not text", live->name);
	json_object_set_new(facts, "memory_locked", json_boolean(d->locked));
	json_object_set_new(facts, "user", json_string(live->info->user));
	json_object_set_new(facts, "volumes", volumes(live));
	if (live->command_line.n)
		json_object_set_new(facts, "command_line", strings(&live->command_line));
	if (live->stopped)
		json_object_set_new(facts, "stop",
				    json_pack("{s:s, s:s}", "reason", machine_stop_name(live->stop),
					      "text", live->stop_text));
	if (live->load_before)
		json_object_set_new(facts, "host", host(live));
	json_object_set_new(facts, "warnings", strings(&live->warnings));
	*ret_facts = facts;
	return 0;
}
