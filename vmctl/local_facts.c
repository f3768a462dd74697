/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run leaves behind for its fingerprint and for the doubtful reader. */
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/hash.h"
#include "vmctl/hostload.h"
#include "vmctl/local.h"

enum { COMMAND_LINE_CAP = 1 << 20 };

/* Above this share of all CPU time another virtual machine or its host disturbed the run. */
static const double STEAL_LIMIT = 2.0;

static void read_command_line(struct local *local)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct lab_error ignored;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)local->pid);
	if (!local->pid || lab_read_file(path, COMMAND_LINE_CAP, &text, &ignored))
		return;
	for (size_t i = 0; i < text.len; i += strlen(text.data + i) + 1)
		lab_strv_add(&local->command_line, text.data + i);
}

void local_note_start(struct local *local)
{
	read_command_line(local);
	local->others_before = host_count_qemu("", local->pid);
	local->load_before = host_load_read("");
}

static json_t *strings(const struct lab_strv *v)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(ret, json_string(v->items[i]));
	return ret;
}

/* SHA-256 of the BIOS that QEMU starts a q35 machine with; null where it is not found. */
static json_t *firmware(void)
{
	static const char *const paths[] = {"/usr/share/seabios/bios-256k.bin",
					    "/usr/share/qemu/bios-256k.bin"};
	char hash[HASH_HEX];

	for (size_t i = 0; i < LAB_COUNT(paths); i++) {
		if (hash_file(paths[i], hash, NULL) == 0)
			return json_string(hash);
	}
	return json_null();
}

static json_t *volumes(const struct local *local)
{
	json_t *ret = json_array();

	for (unsigned i = 0; i < local->desc.n_disks; i++) {
		const struct domain_disk *d = &local->disks[i];

		if (d->volume.bus == VOLUME_NVDIMM) {
			json_array_append_new(ret, json_pack("{s:s, s:s, s:I}", "serial",
							     d->volume.serial, "bus", "nvdimm",
							     "bytes", (json_int_t)d->volume.bytes));
			continue;
		}
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

static json_t *host(struct local *local)
{
	json_t *after = host_load_read("");
	json_t *between = host_load_between(local->load_before, after);
	double steal = json_number_value(json_object_get(between, "steal_percent"));
	unsigned others = host_count_qemu("", local->pid);

	if (steal > STEAL_LIMIT)
		local_warn(local, "%.1f %% of this host's CPU time was stolen during the run",
			   steal);
	if (others || local->others_before)
		local_warn(local, "%u other virtual machines ran on this host",
			   others > local->others_before ? others : local->others_before);
	return json_pack("{s:O, s:o, s:o, s:i, s:i}", "before", local->load_before, "after", after,
			 "during", between, "others_before", (int)local->others_before,
			 "others_after", (int)others);
}

int local_collect(struct machine *machine, json_t **ret_facts, struct lab_error *err)
{
	struct local *local = (struct local *)machine;
	const struct domain_desc *d = &local->desc;
	char libvirt[32], cpu[100];
	json_t *facts;

	snprintf(libvirt, sizeof(libvirt), "%lu.%lu.%lu", local->info->libvirt / 1000000,
		 local->info->libvirt / 1000 % 1000, local->info->libvirt % 1000);
	snprintf(cpu, sizeof(cpu), "%s%s%s", d->cpu_model ? d->cpu_model : "host-passthrough",
		 d->cpu_feature ? ",+" : "", d->cpu_feature ? d->cpu_feature : "");
	facts = json_pack("{s:s, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:s, s:s}",
			  "target", local->machine.target->name, "emulated", !local->kvm,
			  "accelerator", local->kvm ? "kvm" : "tcg", "qemu", local->info->qemu,
			  "libvirt", libvirt, "connect", local->info->uri, "machine", d->machine,
			  "cpu", cpu, "vcpus", (int)d->vcpus, "memory", (json_int_t)d->memory,
			  "cmdline", d->cmdline, "domain_xml", LOCAL_DOMAIN, "console",
			  LOCAL_CONSOLE);
	if (!facts)
		return lab_error_set(err, LAB_ERR_FAILED, "%s: facts are not text", local->name);
	json_object_set_new(facts, "firmware", firmware());
	json_object_set_new(facts, "memory_locked", json_boolean(d->locked));
	json_object_set_new(facts, "user", json_string(local->info->user));
	json_object_set_new(facts, "volumes", volumes(local));
	if (local->command_line.n)
		json_object_set_new(facts, "command_line", strings(&local->command_line));
	if (local->stopped)
		json_object_set_new(facts, "stop",
				    json_pack("{s:s, s:s}", "reason",
					      machine_stop_name(local->stop), "text",
					      local->stop_text));
	if (local->load_before)
		json_object_set_new(facts, "host", host(local));
	json_object_set_new(facts, "warnings", strings(&local->warnings));
	*ret_facts = facts;
	return 0;
}
