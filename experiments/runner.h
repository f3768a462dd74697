/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_RUNNER_H
#define LAB_EXPERIMENTS_RUNNER_H

/*
 * Executes an experiment: resolves everything it needs, plans, and runs one
 * machine per slot until the plan is complete. The same request goes on where an
 * earlier call stopped. campaign_run() takes the lab's lock itself, for its whole
 * time: the caller must not hold it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/strv.h"
#include "experiments/stages.h"
#include "store/lab.h"

struct artifact;

/* --kernel NAME=VALUE: an artifact's key prefix or label, or the path of a bzImage. */
struct run_kernel {
	const char *name;
	const char *value;
	/* What an old campaign had, wherever it lies now; NULL: `value`, and one made for it. */
	const struct artifact *kernel;
	const struct artifact *initramfs;
};

struct run_request {
	const char *experiment;		  /* name or path of the definition */
	const char *preset;		  /* NULL: the first */
	const char *patchset;		  /* NULL: the definition's, else the newest built */
	const char *source;		  /* for building `patchset`, or NULL */
	const struct run_kernel *kernels; /* instead of a patchset */
	size_t n_kernels;
	const struct artifact *image; /* the root image, NULL: the recipe's */
	const char *target;	      /* NULL: the definition's */
	unsigned n;		      /* 0: the preset's */
	const struct lab_strv *only;  /* cells, or NULL */
	uint64_t seed;		      /* of the run order and of the runs; 0: 1 */
	bool allow_emulated;
	bool aa; /* equal variants are meant */
	bool new_campaign;
	bool dry_run; /* resolve and plan, boot nothing, write no campaign */
	/* Target exact: each run with number 1, 1 + this, ... is run twice and must be equal; 0: none. */
	unsigned check_every;
	bool profile;  /* count instructions by function: with `plugin`, on a target that can */
	unsigned jobs; /* of kernel builds; 0: all CPUs */
	bool use_ccache;
	const char *connect;	     /* libvirt URI, NULL: the default */
	const char *definitions_dir; /* installed data, see cli */
	const char *recipes_dir;
	const char *fragments_dir;
	const char *agent;		 /* path of labctl-agent */
	const char *plugin;		 /* path of labctl-profile.so */
	double deadline_scale;		 /* 0: 1; on top of the stretch for emulation */
	const struct run_stages *stages; /* NULL: the real ones; tests put their own */
};

/* Where a campaign stands, for one progress line. */
struct run_status {
	int64_t campaign;
	unsigned run, runs;	    /* this slot's number in the plan, length of the plan */
	unsigned finished;	    /* slots that have a final state */
	const char *variant, *cell; /* cell "" without factors */
	const char *phase;	    /* "prepare", "boot", a phase of the job, "collect" */
	unsigned percent;	    /* of this run, by steps; 0 when unknown */
	uint64_t eta_ms;	    /* for the whole plan, from finished runs; 0: unknown */
};

/* Talk on the way; every member may be NULL. Strings are borrowed for the call. */
struct run_progress {
	void *ctx;
	/* A finished fact for a line of its own: topic ("patchset", "image", "plan"), words. */
	void (*say)(void *ctx, const char *topic, const char *text);
	/* What it is busy with before the first run ("image", "making ext4"); comes often. */
	void (*working)(void *ctx, const char *what, const char *text);
	/* Whenever something moved, many times a second perhaps. */
	void (*status)(void *ctx, const struct run_status *status);
	/* After a run was committed: its name ("7.12"), state and message. */
	void (*run_ended)(void *ctx, const struct run_status *status, const char *run,
			  const char *state, const char *message);
	bool (*cancelled)(void *ctx);
	/* Handed to the builder when a kernel must be built; may be NULL. */
	const struct build_progress *build;
};

/* How often a state ended a run of this campaign. */
struct run_count {
	const char *state; /* static */
	unsigned n;
};

struct run_result {
	int64_t campaign;			 /* 0 after a dry run */
	unsigned planned, done, failed, missing; /* failed: outcomes; missing: not yet final */
	struct run_count counts[16];		 /* newest attempts by state */
	size_t n_counts;
	bool resumed;	       /* went on with an older one */
	bool already_complete; /* nothing was left to do */
	bool emulated;
	unsigned checked; /* runs that were run twice and were equal */
	bool cancelled;	  /* by the user; the same request goes on */
	char *plan;	  /* plan_text() of a dry run, else NULL */
};

/*
 * 0 when it went through the plan (look at `failed`, and at `missing`: lab faults that
 * the next call repeats) or the user stopped it (look at `cancelled`). -1 when it could
 * not go on, also after two lab faults in a row; what ran is kept, and *ret_result is
 * filled as far as a campaign exists (campaign != 0). Release it in both cases.
 */
int campaign_run(struct lab *lab, const struct run_request *request,
		 const struct run_progress *progress, struct run_result *ret_result,
		 struct lab_error *err) LAB_MUST_CHECK;
void run_result_release(struct run_result *result);

#endif
