/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/setup.h"

#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "experiments/identity.h"
#include "experiments/resolve.h"
#include "experiments/settings.h"
#include "experiments/talk.h"
#include "images/initramfs.h"

/* What a run may write besides data and swap: overlay of the root, frames, console. */
#define SETUP_RUN_SPACE (512ull << 20)

const struct experiment_variant *setup_variant(const struct setup *setup, const char *name)
{
	for (size_t i = 0; i < setup->experiment->n_variants; i++)
		if (strcmp(setup->experiment->variants[i].name, name) == 0)
			return &setup->experiment->variants[i];
	return NULL;
}

char *setup_cmdline(const struct setup *setup, const struct experiment_variant *variant)
{
	const char *common = setup->experiment->cmdline, *own = variant->cmdline;

	return lab_asprintf("%s%s%s", common, *common && *own ? " " : "", own);
}

int setup_plan(struct setup *setup, struct lab *lab, const struct run_request *request,
	       const struct run_progress *progress, struct lab_error *err)
{
	setup->lab = lab;
	setup->request = request;
	setup->progress = progress;
	setup->stages = request->stages ? request->stages : &run_stages_real;
	setup->seed = request->seed ? request->seed : 1;
	setup->stretch = request->deadline_scale > 0 ? request->deadline_scale : 1;
	if (experiment_find(request->definitions_dir, request->experiment, &setup->experiment, err))
		return -1;
	setup->preset = experiment_preset(setup->experiment, request->preset, err);
	if (!setup->preset)
		return -1;
	setup->n = request->n ? request->n : setup->preset->n;
	setup->target_name = request->target ? request->target : setup->experiment->target;
	if (plan_new(setup->experiment, setup->n, setup->seed, request->only, &setup->plan, err))
		return -1;
	return resolve_metrics(setup->experiment, setup->preset, setup->plan, &setup->metrics, err);
}

static void disconnect(struct setup *s)
{
	if (s->hypervisor && s->stages->disconnect)
		s->stages->disconnect(s->hypervisor);
	s->hypervisor = NULL;
}

int setup_reconnect(struct setup *setup, struct lab_error *err)
{
	disconnect(setup);
	if (!setup->target->caps.local || !setup->stages->connect)
		return 0;
	return setup->stages->connect(setup->request->connect, &setup->hypervisor, err);
}

/* The ways on come from the table, so that only targets that exist are named. */
static int refuse_without_kvm(const struct setup *s, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf others = LAB_BUF_INIT;

	for (const struct target *const *t = target_list(); *t; t++)
		if ((*t)->caps.local && !(*t)->caps.needs_kvm)
			lab_buf_addf(&others, ", --target %s does not need it", (*t)->name);
	return lab_error_set(err, LAB_ERR_UNAVAILABLE,
			     "target '%s' needs KVM (%s): --allow-emulated runs it without "
			     "and marks every time%s",
			     s->target_name, s->probe.text, others.len ? others.data : "");
}

static int check_target(struct setup *s, struct lab_error *err)
{
	const struct target_caps *caps;

	if (s->stages->target(s->target_name, &s->target, err))
		return -1;
	caps = &s->target->caps;
	if (caps->max_vcpus && s->preset->vcpus > caps->max_vcpus)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "preset '%s' wants %u vCPUs, target '%s' has at most %u",
				     s->preset->name, s->preset->vcpus, s->target_name,
				     caps->max_vcpus);
	if (s->request->check_every && !caps->exact)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "runs on target '%s' are never equal: nothing to check",
				     s->target_name);
	if (s->request->profile && !caps->profiles)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "--profile counts instructions, which target '%s' cannot; "
				     "--target exact can",
				     s->target_name);
	if (s->stages->probe(s->lab, NULL, &s->probe, err))
		return -1;
	s->emulated = caps->needs_kvm && !s->probe.works;
	if (s->emulated && !s->request->allow_emulated)
		return refuse_without_kvm(s, err);
	if (s->emulated || caps->slow)
		s->stretch *= SETUP_EMULATED_STRETCH;
	if (strcmp(caps->time_unit, TARGET_INSTRUCTIONS) == 0) {
		for (size_t i = 0; i < s->metrics.n; i++)
			metric_count_instructions(&s->metrics.items[i]);
	}
	if (setup_reconnect(s, err))
		return -1;
	if (!s->request->profile || !s->stages->plugin_check)
		return 0;
	return s->stages->plugin_check(s->hypervisor, s->request->plugin, err);
}

/* NVDIMMs have whole units; the root image has them by its recipe's size. */
static int check_units(const struct setup *s, struct lab_error *err)
{
	const struct {
		const char *name;
		uint64_t bytes;
	} volumes[] = {{"data", s->preset->data},
		       {"swap", s->preset->swap},
		       {"root image", s->root_bytes}};

	for (size_t i = 0; s->target->caps.exact && i < LAB_COUNT(volumes); i++) {
		if (volumes[i].bytes % TARGET_NVDIMM_UNIT)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "target '%s' has disks in units of 2 MiB; the %s of "
					     "preset '%s' has %llu bytes",
					     s->target_name, volumes[i].name, s->preset->name,
					     (unsigned long long)volumes[i].bytes);
	}
	return 0;
}

static void image_say(void *ctx, const char *phase, const char *text)
{
	const struct run_progress *progress = ctx;

	if (progress && progress->working)
		progress->working(progress->ctx, phase, text);
}

static bool image_cancelled(void *ctx)
{
	return talk_cancelled(ctx);
}

static int find_image(struct setup *s, struct lab_error *err)
{
	LAB_CLEANUP(free)
	char *recipe = talk_data_path(s->experiment, s->request->recipes_dir, s->experiment->image,
				      ".yaml");
	struct image_progress progress = {(void *)s->progress, image_say, image_cancelled};
	struct image_request request = {
		.recipe = recipe, .force_tcg = !s->probe.works, .progress = &progress};
	bool cached = true;

	if (s->request->image)
		s->image = artifact_copy(s->request->image);
	else if (s->stages->image(s->lab, &request, &s->image, &cached, err))
		return lab_error_wrap(err, "image '%s'", s->experiment->image);
	s->root = lab_path_join(s->image->path, IMAGE_ROOT);
	if (!cached)
		talk(s->progress, "image", "%s  built", s->experiment->image);
	return lab_file_size(s->root, &s->root_bytes, err);
}

static int find_initramfs(struct setup *s, struct lab_error *err)
{
	for (size_t i = 0; i < s->kernels.n; i++) {
		struct kernel *k = &s->kernels.items[i];
		const struct run_kernel *given = kernel_given(s->request, k->name);

		if (given && given->initramfs)
			k->initramfs = artifact_copy(given->initramfs);
		else if (s->stages->initramfs(s->lab, s->request->agent, k->modules, &k->initramfs,
					      NULL, err))
			return lab_error_wrap(err, "initramfs of kernel %s", k->name);
		k->initramfs_path = lab_path_join(k->initramfs->path, INITRAMFS_FILE);
	}
	return 0;
}

/* "the same kernel, command line and settings" or NULL when the two differ. */
static bool variants_equal(const struct setup *s, const struct experiment_variant *a,
			   const struct experiment_variant *b)
{
	const struct kernel *ka = kernel_find(&s->kernels, a->kernel);
	const struct kernel *kb = kernel_find(&s->kernels, b->kernel);

	return strcmp(ka->content, kb->content) == 0 && strcmp(a->cmdline, b->cmdline) == 0 &&
	       settings_equal(&a->settings, &b->settings);
}

static int check_variants(const struct setup *s, struct lab_error *err)
{
	const struct experiment *e = s->experiment;

	if (e->aa || s->request->aa)
		return 0;
	for (size_t i = 0; i < e->n_variants; i++)
		for (size_t j = 0; j < i; j++)
			if (variants_equal(s, &e->variants[j], &e->variants[i]))
				return lab_error_set(
					err, LAB_ERR_INVALID,
					"variants %s and %s are equal (same kernel, command line "
					"and settings): nothing to compare; --aa compares them "
					"all the same",
					e->variants[j].name, e->variants[i].name);
	return 0;
}

static int check_space(const struct setup *s, struct lab_error *err)
{
	uint64_t need = s->preset->data + s->preset->swap + SETUP_RUN_SPACE, there;
	char n[16], t[16];

	if (lab_free_space(lab_dir(s->lab), &there, err))
		return -1;
	if (there >= need)
		return 0;
	return lab_error_set(err, LAB_ERR_UNAVAILABLE,
			     "a run of preset '%s' may write %s, but %s has %s left",
			     s->preset->name, lab_format_size(need, n, sizeof(n)), lab_dir(s->lab),
			     lab_format_size(there, t, sizeof(t)));
}

static int check_memory(const struct setup *s, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	uint64_t kib = 0;
	const char *at;
	char n[16], t[16];

	if (!s->target->caps.local)
		return 0;
	if (lab_read_file("/proc/meminfo", 1 << 16, &text, err))
		return -1;
	at = text.data ? strstr(text.data, "MemTotal:") : NULL;
	for (at = at ? at + strcspn(at, "0123456789") : ""; *at >= '0' && *at <= '9'; at++)
		kib = kib * 10 + (uint64_t)(*at - '0');
	if (!kib || s->preset->memory < kib * 1024)
		return 0;
	return lab_error_set(err, LAB_ERR_UNAVAILABLE,
			     "preset '%s' wants a machine of %s, this host has %s", s->preset->name,
			     lab_format_size(s->preset->memory, n, sizeof(n)),
			     lab_format_size(kib * 1024, t, sizeof(t)));
}

int setup_resolve(struct setup *setup, struct lab_error *err)
{
	if (check_target(setup, err) || check_memory(setup, err) ||
	    kernels_resolve(setup, &setup->kernels, err) || check_variants(setup, err))
		return -1;
	if (talk_cancelled(setup->progress))
		return lab_error_set(err, LAB_ERR_CANCELLED, "stopped");
	if (find_image(setup, err) || find_initramfs(setup, err) || check_units(setup, err) ||
	    check_space(setup, err))
		return -1;
	if (setup->preset->data && setup->stages->mke2fs_version &&
	    setup->stages->mke2fs_version(&setup->mke2fs, err))
		return -1;
	return identity_make(setup, &setup->definition, setup->identity, err);
}

void setup_release(struct setup *setup)
{
	disconnect(setup);
	kernel_set_release(&setup->kernels);
	artifact_free(setup->image);
	metric_list_release(&setup->metrics);
	plan_free(setup->plan);
	json_decref(setup->definition);
	free(setup->root);
	free(setup->mke2fs);
	experiment_free(setup->experiment);
}
