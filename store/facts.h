/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_FACTS_H
#define LAB_STORE_FACTS_H

/*
 * Answers that cost something to find (the KVM probe) and what is known about this
 * host. A fact has a name and a scope: what it is true for, in one string, for
 * instance "BOOT-ID/QEMU-BUILD". Another scope is another fact, so a stale answer
 * is never found.
 */

#include <stdint.h>

#include "common/err.h"
#include "store/lab.h"

/* The JSON text of a fact; *ret_json is NULL when it is not known (no failure). Caller frees. */
int fact_get(struct lab *lab, const char *name, const char *scope, char **ret_json,
	     struct lab_error *err) LAB_MUST_CHECK;
/* Sets a fact; `json` must be an object. Facts of the same name in other scopes are kept. */
int fact_put(struct lab *lab, const char *name, const char *scope, const char *json,
	     struct lab_error *err) LAB_MUST_CHECK;

/* This boot of this host: /proc/sys/kernel/random/boot_id without its end of line; caller frees. */
int host_boot_id(char **ret_id, struct lab_error *err) LAB_MUST_CHECK;

/*
 * JSON object in text; caller frees: cpu_model, cpus (online), memory_bytes, kernel
 * (release), kernel_version, machine, boot_id, and
 * qemu (`qemu_build` as given; left out when NULL). What cannot be read is left out.
 */
char *host_facts_json(const char *qemu_build);

#endif
