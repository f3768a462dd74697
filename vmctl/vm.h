/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_VM_H
#define LAB_VMCTL_VM_H

/*
 * For vmctl/ only: a transient domain that runs, and how it ended. What libvirt's
 * event thread hears wakes a descriptor that can be polled with others.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"
#include "vmctl/target.h"

struct vm;

/* Creates the domain paused; it dies with our connection. */
int vm_create(struct hypervisor *hv, const char *name, const char *xml, struct vm **ret,
	      struct lab_error *err) LAB_MUST_CHECK;
int vm_resume(struct vm *vm, struct lab_error *err) LAB_MUST_CHECK;
/* Path of the channel's unix socket; caller frees. */
int vm_channel_path(struct vm *vm, char **ret, struct lab_error *err) LAB_MUST_CHECK;
/* Tells which process the QEMU is, so that its end is seen at once and without libvirt. */
void vm_set_process(struct vm *vm, pid_t pid);
int vm_wake_fd(const struct vm *vm);	/* readable when vm_ended is worth asking */
int vm_process_fd(const struct vm *vm); /* readable when QEMU is gone; -1: not known */

/* Has it ended, and how? `text` gets words for a person. */
bool vm_ended(struct vm *vm, enum machine_stop *ret_stop, char *text, size_t size);
/* Ends it now; how it ended is for the caller to say. */
void vm_halt(struct vm *vm);
/* Destroys it if it still runs; as fast as it goes. NULL is fine. */
void vm_free(struct vm *vm);
LAB_DEFINE_CLEANUP(vm, struct vm, vm_free)

/* What a QMP SHUTDOWN event's details mean. */
enum machine_stop vm_stop_of_shutdown(const char *details, char *text, size_t size);

#endif
