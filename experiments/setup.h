/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_SETUP_H
#define LAB_EXPERIMENTS_SETUP_H

/*
 * A request with everything found that it needs: what a campaign is made of. Not for
 * other folders.
 */

#include <jansson.h>

#include "experiments/definition.h"
#include "experiments/kernels.h"
#include "experiments/plan.h"
#include "experiments/runner.h"
#include "experiments/stages.h"
#include "store/hash.h"
#include "workloads/metric.h"

/* Deadlines on an emulated machine are this many times as long. */
#define SETUP_EMULATED_STRETCH 4

struct setup {
	struct lab *lab;
	const struct run_request *request;
	const struct run_progress *progress;
	const struct run_stages *stages;
	struct experiment *experiment;
	const struct experiment_preset *preset;
	const struct target *target;
	const char *target_name; /* with what stands behind the colon */
	struct kvm_result probe;
	bool emulated;
	double stretch; /* of deadlines and timeouts */
	unsigned n;
	uint64_t seed;
	struct plan *plan;
	struct metric_list metrics;
	/* From here on by setup_resolve. */
	struct hypervisor *hypervisor; /* NULL: the target opens its own, or needs none */
	struct kernel_set kernels;
	struct artifact *image;
	char *root; /* path of the root image */
	uint64_t root_bytes;
	char *mke2fs;	    /* version, or NULL */
	json_t *definition; /* what the campaign stores */
	char identity[HASH_HEX];
};

/* Definition, preset, plan: looks at nothing outside of the definition file. */
int setup_plan(struct setup *setup, struct lab *lab, const struct run_request *request,
	       const struct run_progress *progress, struct lab_error *err) LAB_MUST_CHECK;
/* Target, kernels, image, initramfs, and what they add up to. Under the lab's lock. */
int setup_resolve(struct setup *setup, struct lab_error *err) LAB_MUST_CHECK;
/* A new connection to the hypervisor: a restart of libvirtd costs one run, not the rest. */
int setup_reconnect(struct setup *setup, struct lab_error *err) LAB_MUST_CHECK;
void setup_release(struct setup *setup);

const struct experiment_variant *setup_variant(const struct setup *setup, const char *name);
/* Kernel command line of a variant: the experiment's part and its own; caller frees. */
char *setup_cmdline(const struct setup *setup, const struct experiment_variant *variant);

static inline void lab_cleanup_setup(struct setup *setup)
{
	setup_release(setup);
}

#endif
