/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_KVM_H
#define LAB_VMCTL_KVM_H

/* For vmctl/ and its tests only: the steps of kvm_probe. */

#include <stdbool.h>

#include "common/err.h"
#include "common/proc.h"
#include "vmctl/probe.h"

#define KVM_DEVICE "/dev/kvm"
enum { KVM_DEADLINE_MS = 5000 };

/* Does the device open? Otherwise *ret says why not. */
bool kvm_device(const char *device, struct kvm_result *ret);
/* Boots the sector with -accel `accel`. */
int kvm_boot(const char *emulator, const char *accel, unsigned timeout_ms,
	     struct lab_proc_result *result, struct lab_error *err) LAB_MUST_CHECK;
/* What the end of that QEMU means. */
void kvm_judge(const struct lab_proc_result *result, unsigned timeout_ms, struct kvm_result *ret);

#endif
