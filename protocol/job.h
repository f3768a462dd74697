/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_PROTOCOL_JOB_H
#define LAB_PROTOCOL_JOB_H

/*
 * The job: everything the agent is to do in one run. Plain data that owns what
 * its pointers name; start from `struct job job = JOB_INIT`, fill it with the
 * job_add_ functions, end with job_release.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "common/err.h"
#include "common/strv.h"

/*
 * The phase that is measured: series are sampled once before its first step, at
 * the interval while it runs, and once after its last step; snapshots are taken
 * before and after it. Phases run in order. A step that fails and is not optional
 * ends its phase and the job; of what follows only JOB_PHASE_CLEANUP still runs.
 */
#define JOB_FILE "/job.json" /* in an initramfs: what a machine that nobody speaks to does */
#define JOB_PHASE_RUN "run"
#define JOB_PHASE_CLEANUP "cleanup"

#define JOB_NAME_MAX 64	  /* phase, step, series, snapshot names: [A-Za-z0-9._-] */
#define JOB_SERIAL_MAX 20 /* what virtio-blk and NVMe can carry */

/* A disk, found by its serial, whatever its name is in this boot. */
struct job_disk {
	char *serial;
	uint64_t bytes; /* its exact size, checked before anything touches it; 0: any */
	/* Put under dm-delay with this delay of every read and write, ms; 0: used as it is. */
	unsigned delay_ms;
};

struct job_mount {
	struct job_disk disk;
	char *path;   /* absolute, in the root; made if missing */
	char *fstype; /* "ext4" */
	char *options; /* mount(8)'s words: "ro", "noatime", ...; the rest goes to the file system; NULL: none */
};

struct job_swap {
	struct job_disk disk;
};

enum job_setting_kind {
	JOB_SYSCTL, /* key "vm.swappiness": written to /proc/sys/vm/swappiness */
	JOB_WRITE,  /* key is an absolute path: "/sys/kernel/mm/lru_gen/enabled" */
};

struct job_setting {
	enum job_setting_kind kind;
	char *key;
	char *value;
};

struct job_collect {
	uint64_t interval_ms;	/* between two rows; 0: only before and after */
	struct lab_strv series; /* "meminfo", "vmstat", "slabinfo", "psi", "stat", "loadavg" */
	struct lab_strv
		snapshots; /* "cpuinfo", "cmdline", "zoneinfo", "meminfo", "sysctl", "mounts",
				      "swaps", "slabinfo", "vmstat", "dmesg" */
};

struct job_step {
	char *name;
	struct lab_strv argv; /* argv[0] is searched in the root's PATH; never a shell */
	struct lab_strv env;  /* "KEY=value", added to a small fixed environment */
	char *cwd;	      /* absolute, in the root; NULL: "/" */
	uint64_t timeout_ms;  /* then its process group is killed; 0: none */
	bool optional;	      /* a failure is recorded and does not end the job */
};

struct job_phase {
	char *name;
	struct job_step *steps;
	size_t n_steps, cap_steps;
};

struct job {
	char *run; /* "7.41" */
	uint64_t seed;
	uint64_t wait_ns; /* slept before the run phase, so that boots differ in their alignment */
	struct job_mount root; /* .path is unused; no serial: stay where we are (no root switch) */
	struct job_mount *mounts;
	size_t n_mounts, cap_mounts;
	struct job_swap *swaps;
	size_t n_swaps, cap_swaps;
	struct job_setting *settings;
	size_t n_settings, cap_settings;
	struct job_collect collect;
	struct job_phase *phases;
	size_t n_phases, cap_phases;
};

#define JOB_INIT  \
	{         \
		0 \
	}

/*
 * Adders copy their strings. The pointers they return are for filling in the
 * rest and stay good until the next element is added to the same array.
 */
void job_set_root(struct job *job, const char *serial, uint64_t bytes, const char *fstype,
		  const char *options);
void job_add_mount(struct job *job, const char *serial, uint64_t bytes, const char *path,
		   const char *fstype, const char *options);
void job_add_swap(struct job *job, const char *serial, uint64_t bytes);
void job_add_setting(struct job *job, enum job_setting_kind kind, const char *key,
		     const char *value);
struct job_phase *job_add_phase(struct job *job, const char *name);
/* argv is NULL-terminated and may be NULL, to be filled through step->argv. */
struct job_step *job_phase_add_step(struct job_phase *phase, const char *name,
				    const char *const *argv, uint64_t timeout_ms);

/* A new reference; fails (naming the field) for a job that job_from_json would refuse. */
int job_to_json(const struct job *job, json_t **ret_json, struct lab_error *err) LAB_MUST_CHECK;
/* Strict: types, names, counts and sizes are checked; a key it does not know is ignored. */
int job_from_json(const json_t *json, struct job *ret_job, struct lab_error *err) LAB_MUST_CHECK;

void job_release(struct job *job);

static inline void lab_cleanup_job(struct job *job)
{
	job_release(job);
}

#endif
