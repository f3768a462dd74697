/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/target.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "vmctl/machine.h"

static const struct target *const targets[] = {
	&target_live,
	&target_exact,
	NULL,
};

const struct target *const *target_list(void)
{
	return targets;
}

int target_find(const char *name, const struct target **ret, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf known = LAB_BUF_INIT;
	size_t len = strcspn(name, ":");

	for (size_t i = 0; targets[i]; i++) {
		if (strlen(targets[i]->name) == len && !strncmp(targets[i]->name, name, len)) {
			*ret = targets[i];
			return 0;
		}
		lab_buf_addf(&known, "%s%s", known.len ? ", " : "", targets[i]->name);
	}
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "no target '%s'; there is %s", name,
			     known.data);
}

void target_serial(const struct target *target, unsigned index, const char *name,
		   char out[TARGET_SERIAL])
{
	if (target->serial)
		target->serial(index, name, out);
	else
		snprintf(out, TARGET_SERIAL, "%s", name);
}

const char *machine_stop_name(enum machine_stop stop)
{
	static const char *const names[] = {
		[MACHINE_SHUTDOWN] = "shutdown", [MACHINE_REBOOT] = "reboot",
		[MACHINE_CRASHED] = "crashed",	 [MACHINE_LOST] = "lost",
		[MACHINE_IO_ERROR] = "io-error",
	};

	return (size_t)stop < LAB_COUNT(names) ? names[stop] : "unknown";
}

void machine_event_release(struct machine_event *event)
{
	json_decref(event->frame);
	event->frame = NULL;
}

int machine_prepare(const struct target *target, const struct target_job *job,
		    const struct kvm_result *probe, struct machine **ret, struct lab_error *err)
{
	if (target->caps.max_vcpus && job->vcpus > target->caps.max_vcpus)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "target %s has at most %u vCPU, %u are asked for",
				     target->name, target->caps.max_vcpus, job->vcpus);
	return target->prepare(job, probe, ret, err);
}

int machine_start(struct machine *machine, struct lab_error *err)
{
	return machine->target->start(machine, err);
}

int machine_send(struct machine *machine, const json_t *msg, struct lab_error *err)
{
	if (!machine->target->caps.requests)
		return lab_error_set(err, LAB_ERR_INVALID, "target %s takes no requests",
				     machine->target->name);
	return machine->target->send(machine, msg, err);
}

int machine_next_event(struct machine *machine, int timeout_ms, struct machine_event *ret,
		       struct lab_error *err)
{
	*ret = (struct machine_event){.kind = MACHINE_TIMEOUT};
	return machine->target->next_event(machine, timeout_ms, ret, err);
}

void machine_halt(struct machine *machine)
{
	if (machine->target->halt)
		machine->target->halt(machine);
}

int machine_collect(struct machine *machine, json_t **ret_facts, struct lab_error *err)
{
	return machine->target->collect(machine, ret_facts, err);
}

bool machine_emulated(const struct machine *machine)
{
	return machine->target->emulated(machine);
}

void machine_free(struct machine *machine)
{
	if (machine)
		machine->target->destroy(machine);
}
