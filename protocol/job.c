/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "protocol/job.h"

#include <stdlib.h>

#include "common/mem.h"

void job_set_root(struct job *job, const char *serial, uint64_t bytes, const char *fstype,
		  const char *options)
{
	free(job->root.disk.serial);
	free(job->root.fstype);
	free(job->root.options);
	job->root.disk.serial = lab_strdup(serial);
	job->root.disk.bytes = bytes;
	job->root.fstype = lab_strdup(fstype);
	job->root.options = lab_strdup(options);
}

void job_add_mount(struct job *job, const char *serial, uint64_t bytes, const char *path,
		   const char *fstype, const char *options)
{
	LAB_GROW(job->mounts, job->n_mounts, job->cap_mounts);
	job->mounts[job->n_mounts++] = (struct job_mount){
		.disk = {lab_strdup(serial), bytes},
		.path = lab_strdup(path),
		.fstype = lab_strdup(fstype),
		.options = lab_strdup(options),
	};
}

void job_add_swap(struct job *job, const char *serial, uint64_t bytes)
{
	LAB_GROW(job->swaps, job->n_swaps, job->cap_swaps);
	job->swaps[job->n_swaps++] = (struct job_swap){{lab_strdup(serial), bytes}};
}

void job_add_setting(struct job *job, enum job_setting_kind kind, const char *key,
		     const char *value)
{
	LAB_GROW(job->settings, job->n_settings, job->cap_settings);
	job->settings[job->n_settings++] =
		(struct job_setting){kind, lab_strdup(key), lab_strdup(value)};
}

struct job_phase *job_add_phase(struct job *job, const char *name)
{
	LAB_GROW(job->phases, job->n_phases, job->cap_phases);
	job->phases[job->n_phases] = (struct job_phase){.name = lab_strdup(name)};
	return &job->phases[job->n_phases++];
}

struct job_step *job_phase_add_step(struct job_phase *phase, const char *name,
				    const char *const *argv, uint64_t timeout_ms)
{
	struct job_step *step;

	LAB_GROW(phase->steps, phase->n_steps, phase->cap_steps);
	step = &phase->steps[phase->n_steps++];
	*step = (struct job_step){.name = lab_strdup(name), .timeout_ms = timeout_ms};
	if (argv)
		lab_strv_add_all(&step->argv, argv);
	return step;
}

static void mount_release(struct job_mount *mount)
{
	free(mount->disk.serial);
	free(mount->path);
	free(mount->fstype);
	free(mount->options);
}

static void phase_release(struct job_phase *phase)
{
	for (size_t i = 0; i < phase->n_steps; i++) {
		struct job_step *step = &phase->steps[i];

		free(step->name);
		free(step->cwd);
		lab_strv_release(&step->argv);
		lab_strv_release(&step->env);
	}
	free(phase->name);
	free(phase->steps);
}

void job_release(struct job *job)
{
	free(job->run);
	mount_release(&job->root);
	for (size_t i = 0; i < job->n_mounts; i++)
		mount_release(&job->mounts[i]);
	free(job->mounts);
	for (size_t i = 0; i < job->n_swaps; i++)
		free(job->swaps[i].disk.serial);
	free(job->swaps);
	for (size_t i = 0; i < job->n_settings; i++) {
		free(job->settings[i].key);
		free(job->settings[i].value);
	}
	free(job->settings);
	lab_strv_release(&job->collect.series);
	lab_strv_release(&job->collect.snapshots);
	for (size_t i = 0; i < job->n_phases; i++)
		phase_release(&job->phases[i]);
	free(job->phases);
	*job = (struct job)JOB_INIT;
}
