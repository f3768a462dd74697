/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_FACTS_H
#define LAB_EXPERIMENTS_FACTS_H

/* What is kept about a run beside its values: facts for people, fingerprint for repeating it. */

#include "experiments/setup.h"
#include "experiments/watch.h"
#include "store/campaign.h"
#include "store/hash.h"
#include "vmctl/console.h"

struct boot_facts {
	uint64_t begun, prepared, stopped; /* lab_now_ms(), 0: did not come so far */
	struct console_verdict console;
	json_t *machine; /* of machine_collect, or NULL */
	struct lab_strv warnings;
	char job_hash[HASH_HEX]; /* of the job's text */
	/* Borrowed when the texts are made. */
	const struct watch *watch;
	const struct record *record;
	const struct lab_strv *notes;
};

/*
 * JSON text, caller frees: machine, console, hello, steps, notes, warnings, logs,
 * unavailable, timing (ms), frames (bytes, sha256 of the frames file in `dir`).
 */
char *boot_facts_json(const struct boot_facts *facts, const char *dir);
/* JSON text, caller frees: hashes of everything that booted, QEMU, command line, host. */
char *boot_fingerprint_json(const struct boot_facts *facts, const struct setup *setup,
			    const struct run *run, const char *cmdline);
void boot_facts_release(struct boot_facts *facts);

#endif
