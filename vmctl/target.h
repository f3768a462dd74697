/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_TARGET_H
#define LAB_VMCTL_TARGET_H

/*
 * Targets: where a run happens. One table row each; the runner knows none by name.
 * A machine is one boot on a target:
 *
 *   machine_prepare -> machine_start -> machine_next_event (and machine_send) ...
 *   until MACHINE_STOPPED -> machine_collect -> machine_free
 *
 * A machine belongs to the thread that made it. machine_free works in every state
 * and leaves nothing running; when the process dies instead, the host destroys it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "common/err.h"
#include "vmctl/probe.h"

struct hypervisor;
struct machine;

enum volume_format { VOLUME_RAW, VOLUME_QCOW2 };
enum volume_bus { VOLUME_VIRTIO, VOLUME_NVME, VOLUME_NVDIMM };

#define TARGET_SERIAL 21 /* 20 characters and the NUL */
#define TARGET_INSTRUCTIONS "instructions"
#define TARGET_NVDIMM_UNIT (2u << 20) /* bytes */
#define TARGET_PROFILE "profile"      /* in the run's directory: see tcg-plugin/profile.c */

/* A disk of the machine, made by the caller before machine_prepare. */
struct target_volume {
	const char *serial; /* how the guest finds it; letters, digits, '-', at most 20 */
	const char *path;   /* absolute */
	enum volume_format format;
	const char *backing; /* file that a qcow2 overlay stands on, or NULL */
	enum volume_bus bus;
	bool readonly;
	uint64_t bytes; /* what the guest will see, 0 when not known */
};

/*
 * What one run needs, plain and borrowed: everything must stay until machine_free.
 * Fields that a target has no use for are ignored by it.
 */
struct target_job {
	const char *lab;     /* id of the lab, goes into the machine's metadata */
	const char *run;     /* "7.41" */
	const char *domain;  /* name for the hypervisor, NULL: "labctl-LAB8-RUN" */
	const char *run_dir; /* absolute, exists; console.log and domain.xml are written here */
	const char *connect; /* libvirt URI, NULL: hypervisor_default_uri() */
	struct hypervisor *hypervisor; /* connection to use (borrowed); NULL: `connect` is opened */
	const char *kernel;	       /* absolute path of the bzImage */
	const char *initramfs;	       /* absolute path */
	const char *cmdline;	       /* the variant's part, appended to ours; NULL or "": none */
	const char *uuid;	       /* NULL: random, or the target's choice */
	uint64_t seed;		       /* of the run, for targets whose machines have no chance */
	const char *cpu_model;	       /* NULL: the target's choice */
	uint64_t memory;	       /* bytes, a multiple of 1 MiB */
	unsigned vcpus;
	const struct target_volume *volumes;
	unsigned n_volumes;
	const char *plugin;  /* that counts instructions into run_dir/TARGET_PROFILE, or NULL */
	bool allow_emulated; /* TCG is fine when KVM does not work */
	/* Capped log of warnings for a person ("console: ..."), may be NULL. */
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

enum machine_event_kind {
	MACHINE_TIMEOUT, /* nothing happened in the time given */
	MACHINE_FRAME,	 /* `frame` is one message of the guest, not yet believed */
	MACHINE_GARBAGE, /* the channel carried something that is no frame; `text` says what.
			  * Nothing more comes from the channel; the machine still runs. */
	MACHINE_STOPPED, /* the machine is gone; `stop` and `text` say how. Last event. */
};

enum machine_stop {
	MACHINE_SHUTDOWN, /* the guest powered off */
	MACHINE_REBOOT,	  /* the guest reset itself; it was not started again */
	MACHINE_CRASHED,  /* the guest said panic (pvpanic) */
	MACHINE_LOST,	  /* the machine or its hypervisor went away under us */
	MACHINE_IO_ERROR, /* the host could not serve a disk (space, media) */
};

struct machine_event {
	enum machine_event_kind kind;
	json_t *frame;
	enum machine_stop stop;
	char text[300];
};

/* "shutdown", "reboot", "crashed", "lost", "io-error". */
const char *machine_stop_name(enum machine_stop stop);
void machine_event_release(struct machine_event *event);

/* What a target can do, for planning and for texts. */
struct target_caps {
	bool streams;	       /* messages come while it runs; else only after it has stopped */
	bool requests;	       /* machine_send works */
	bool heartbeats;       /* silence means a hang */
	const char *time_unit; /* "s"; TARGET_INSTRUCTIONS: its clock counts them, one a ns */
	unsigned max_vcpus;    /* 0: no limit of ours */
	bool needs_kvm;	       /* without KVM it needs allow_emulated */
	bool local;	       /* a machine on this host's hypervisor: kernel runs from our files */
	bool slow;	       /* always emulated: deadlines are stretched */
	/*
	 * Equal inputs give equal frames. Its disks are NVDIMMs (raw files in units of 2 MiB),
	 * the job is in the initramfs, and the seed of the run decides the rest.
	 */
	bool exact;
	bool profiles; /* takes a plugin */
	/* "CONFIG_X=y": what a kernel must have to run here; NULL-terminated. */
	const char *const *required_config;
};

/* One row of the table. Code outside vmctl/ calls the machine_... functions below. */
struct target {
	const char *name;
	const char *help; /* one line */
	struct target_caps caps;
	/* By what serial the guest knows volume `index`; NULL: by the one it was given. */
	void (*serial)(unsigned index, const char *name, char out[TARGET_SERIAL]);
	int (*prepare)(const struct target_job *job, const struct kvm_result *probe,
		       struct machine **ret, struct lab_error *err);
	int (*start)(struct machine *machine, struct lab_error *err);
	/* NULL where caps.requests is false: machine_send refuses by itself. */
	int (*send)(struct machine *machine, const json_t *msg, struct lab_error *err);
	int (*next_event)(struct machine *machine, int timeout_ms, struct machine_event *ret,
			  struct lab_error *err);
	void (*halt)(struct machine *machine); /* NULL: there is nothing to hear afterwards */
	int (*collect)(struct machine *machine, json_t **ret_facts, struct lab_error *err);
	void (*destroy)(struct machine *machine); /* frees it, too */
	bool (*emulated)(const struct machine *machine);
};

/* NULL-terminated table. */
const struct target *const *target_list(void);
/* The part of `name` before a colon names the target. The error lists those that exist. */
int target_find(const char *name, const struct target **ret, struct lab_error *err) LAB_MUST_CHECK;

/* What the job must call volume `index` of a machine. */
void target_serial(const struct target *target, unsigned index, const char *name,
		   char out[TARGET_SERIAL]);

/*
 * Checks everything that can be checked without starting: KVM or the permission to
 * emulate, that QEMU's user reaches every file, which it owns from now on where it
 * must. `probe` is kvm_probe's answer.
 */
int machine_prepare(const struct target *target, const struct target_job *job,
		    const struct kvm_result *probe, struct machine **ret,
		    struct lab_error *err) LAB_MUST_CHECK;
int machine_start(struct machine *machine, struct lab_error *err) LAB_MUST_CHECK;
/*
 * Queues one message; what the guest does not take now is sent while
 * machine_next_event waits. Never blocks; a guest that takes nothing for long makes
 * the queue too long and that fails with LAB_ERR_TIMEOUT.
 */
int machine_send(struct machine *machine, const json_t *msg, struct lab_error *err) LAB_MUST_CHECK;
/*
 * Waits at most timeout_ms (0: only looks) and fills *ret, which the caller releases.
 * A signal to the process may make it return MACHINE_TIMEOUT early. Whatever a guest
 * or a host does is an event; -1 is for misuse only. Frames that were sent before
 * the machine stopped come before MACHINE_STOPPED.
 */
int machine_next_event(struct machine *machine, int timeout_ms, struct machine_event *ret,
		       struct lab_error *err) LAB_MUST_CHECK;
/*
 * Ends a machine whose time is over. Of a target that does not stream, what it had to say
 * comes from machine_next_event now, up to MACHINE_STOPPED.
 */
void machine_halt(struct machine *machine);
/*
 * Facts of the run as a JSON object (caller's reference), best after MACHINE_STOPPED:
 * target, emulated, qemu, machine, command_line, domain_xml, host (before, after),
 * volumes with their cache mode, console, warnings. Never fails for a fact that is
 * missing.
 */
int machine_collect(struct machine *machine, json_t **ret_facts,
		    struct lab_error *err) LAB_MUST_CHECK;
/* True when guest time is not this host's time: no KVM. */
bool machine_emulated(const struct machine *machine);
/* Destroys the machine if it still runs. NULL is fine. */
void machine_free(struct machine *machine);
LAB_DEFINE_CLEANUP(machine, struct machine, machine_free)

#endif
