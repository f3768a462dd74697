/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_TESTS_FAKE_LAB_H
#define LAB_TESTS_FAKE_LAB_H

/*
 * A lab whose stages cost nothing: two kernels that are words in a file, and a target
 * whose machines are a script. Everything else (store, definition, plan, runner,
 * protocol) is the product's. Include after cmocka.h.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "experiments/runner.h"
#include "images/initramfs.h"
#include "protocol/job.h"
#include "protocol/message.h"
#include "store/artifact.h"
#include "store/campaign.h"
#include "store/patchset.h"
#include "tests/unit/series_fixture.h"
#include "vmctl/machine.h"

/* What the machine of a run does; NULL is "done". */
static const char *(*fake_behave)(const char *run, const char *cmdline, unsigned long boots);
static unsigned long fake_boots;    /* machines started */
static unsigned fake_alive;	    /* machines that were not freed */
static unsigned fake_run_ms;	    /* how long a good run takes */
static bool fake_kvm = true;	    /* what the probe says */
static unsigned fake_builds;	    /* calls of the builder */
static char fake_initramfs_of[256]; /* the last modules directory asked for */

struct fake_machine {
	struct machine base;
	const struct target_job *job;
	const char *script;
	json_t *queue; /* array of frames to come */
	enum machine_stop stop;
	bool stops, stopped, garbage;
};

static void fake_queue(struct fake_machine *m, json_t *message)
{
	json_array_append_new(m->queue, message);
}

static void fake_console(const struct fake_machine *m, const char *text)
{
	LAB_CLEANUP(free) char *path = lab_path_join(m->job->run_dir, "console.log");

	assert_int_equal(lab_write_file(path, text, strlen(text), 0644, NULL), 0);
}

static int fake_prepare(const struct target_job *job, const struct kvm_result *probe,
			struct machine **ret, struct lab_error *err)
{
	struct fake_machine *m;
	extern const struct target fake_target;

	if (!probe->works && !job->allow_emulated)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "no KVM");
	m = LAB_NEW(struct fake_machine);
	m->base.target = &fake_target;
	m->job = job;
	m->script = fake_behave ? fake_behave(job->run, job->cmdline, fake_boots) : NULL;
	m->script = m->script ? m->script : "done";
	if (strcmp(m->script, "unprepared") == 0) {
		free(m);
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "no road to the image");
	}
	m->queue = json_array();
	fake_alive++;
	*ret = &m->base;
	return 0;
}

static void fake_hello(struct fake_machine *m)
{
	LAB_CLEANUP(buf) struct lab_buf kernel = LAB_BUF_INIT;
	struct message_hello hello = {.protocol = MESSAGE_PROTOCOL,
				      .agent = "fake",
				      .boot_id = m->job->run,
				      .kernel_release = "6.1"};

	/* A fake kernel file holds its build id. */
	assert_int_equal(lab_read_file(m->job->kernel, 4096, &kernel, NULL), 0);
	hello.kernel_build_id = strcmp(m->script, "other-kernel") ? kernel.data : "0123";
	fake_queue(m, message_make_hello(&hello));
}

static int fake_start(struct machine *machine, struct lab_error *err)
{
	struct fake_machine *m = (struct fake_machine *)machine;

	fake_boots++;
	if (strcmp(m->script, "unstarted") == 0)
		return lab_error_set(err, LAB_ERR_FAILED, "libvirtd is gone");
	for (unsigned i = 0; i < m->job->n_volumes; i++)
		assert_true(lab_file_exists(m->job->volumes[i].path));
	fake_console(m, "");
	if (strcmp(m->script, "no-hello") == 0)
		fake_console(m, "[    0.1] Unpacking initramfs...\n");
	else if (strcmp(m->script, "boot-panic") == 0) {
		fake_console(m, "[    0.3] Kernel panic - not syncing: VFS: no root\n");
		m->stops = true;
		m->stop = MACHINE_CRASHED;
	} else
		fake_hello(m);
	return 0;
}

static void fake_series(struct fake_machine *m, int64_t t_ns, bool first, int64_t slab)
{
	const int64_t deltas[3] = {first ? slab : 1, first ? slab : 2, first ? 2 * slab : 3};
	static const char *const names[] = {"meminfo.SReclaimable", "meminfo.SUnreclaim",
					    "meminfo.Slab"};

	if (first)
		fake_queue(m, message_make_names(0, names, 3));
	fake_queue(m, series_json(t_ns, MESSAGE_MARK_NONE, deltas, 3));
}

/* What hackbench would print for this argument vector; NULL for another program. */
static char *fake_output(const struct job_step *step, uint64_t seed, bool other)
{
	int groups = 0, fds = 0, loops = 0, size = 0;
	const struct {
		const char *flag;
		int *value;
	} values[] = {{"-g", &groups}, {"-f", &fds}, {"-l", &loops}, {"-s", &size}};

	if (strcmp(step->argv.items[0], "hackbench") != 0)
		return NULL;
	for (size_t i = 1; i + 1 < step->argv.n; i++)
		for (size_t o = 0; o < LAB_COUNT(values); o++)
			if (strcmp(step->argv.items[i], values[o].flag) == 0)
				*values[o].value = (int)strtol(step->argv.items[i + 1], NULL, 10);
	return lab_asprintf("Running in %s mode with %d groups using %d file descriptors each "
			    "(== %d tasks)\nEach sender will pass %d messages of %d bytes\n"
			    "Time: %d.%03d\n",
			    lab_strv_has(&step->argv, "-T") ? "threaded" : "process", groups,
			    2 * fds, groups * 2 * fds, loops, size, other, 100 + (int)seed);
}

static void fake_step(struct fake_machine *m, const struct job *job, const char *phase,
		      const struct job_step *js, int64_t t_ns)
{
	struct message_step step = {.phase = phase, .step = js->name, .t_ns = t_ns};
	LAB_CLEANUP(free) char *stream = lab_asprintf("%s/%s/stdout", phase, js->name);
	LAB_CLEANUP(free)
	char *out = fake_output(js, job->seed, strstr(m->job->cmdline, "other") != NULL);

	fake_queue(m, message_make_step(&step));
	if (strcmp(m->script, "mute") != 0 && out)
		fake_queue(m, message_make_data(stream, 0, t_ns, out, strlen(out)));
	step.end = true;
	step.exit_code = strcmp(m->script, "fails") == 0;
	fake_queue(m, message_make_step(&step));
}

/* The whole of a well-behaved run, or as much of it as the script wants. */
static void fake_job(struct fake_machine *m, const json_t *json)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	struct message_phase phase = {.phase = "run", .t_ns = 10};
	struct lab_error err;

	if (job_from_json(json, &job, &err))
		fail_msg("the runner's job: %s", err.text);
	assert_string_equal(job.run, m->job->run);
	assert_string_equal(job.root.disk.serial, "root");
	fake_queue(m, message_make_reply(1, NULL, NULL));
	if (strcmp(m->script, "setting") == 0) {
		fake_queue(m, message_make_done(11, MESSAGE_ERR_SETTING, "vm.x: no such file"));
		return;
	}
	for (size_t i = 0; i < job.n_phases; i++) {
		phase.phase = job.phases[i].name;
		phase.end = false;
		fake_queue(m, message_make_phase(&phase));
		fake_series(m, 11, i == 0, 1000);
		fake_series(m, 12, false, 0);
		for (size_t s = 0; s < job.phases[i].n_steps; s++)
			fake_step(m, &job, phase.phase, &job.phases[i].steps[s], 13);
		phase.end = true;
		phase.t_ns = 20;
		fake_queue(m, message_make_phase(&phase));
	}
	if (strcmp(m->script, "fails") == 0)
		fake_queue(m, message_make_done(21, MESSAGE_ERR_WORKLOAD, "a step failed"));
	else
		fake_queue(m, message_make_done(21, NULL, NULL));
}

/* Scripts that end a run before it is done: a beginning, then this. */
static bool fake_breaks(struct fake_machine *m)
{
	static const struct {
		const char *script;
		bool stops;
		enum machine_stop stop;
		const char *console;
	} breaks[] = {
		{"panic", true, MACHINE_CRASHED, "[ 1.0] Kernel panic - not syncing: test\n"},
		{"oops", false, 0,
		 "[ 1.0] BUG: kernel NULL pointer dereference, address: 0000000000000000\n"},
		{"reset", true, MACHINE_REBOOT, ""},
		{"shutdown", true, MACHINE_SHUTDOWN, ""},
		{"lost", true, MACHINE_LOST, ""},
		{"io-error", true, MACHINE_IO_ERROR, ""},
		{"hang", false, 0, ""},
		{"stalled", false, 0, ""},
	};

	for (size_t i = 0; i < LAB_COUNT(breaks); i++) {
		if (strcmp(breaks[i].script, m->script) != 0)
			continue;
		fake_console(m, breaks[i].console);
		m->stops = breaks[i].stops;
		m->stop = breaks[i].stop;
		return true;
	}
	m->garbage = strcmp(m->script, "garbage") == 0;
	return m->garbage;
}

static int fake_send(struct machine *machine, const json_t *msg, struct lab_error *err)
{
	struct fake_machine *m = (struct fake_machine *)machine;
	struct message request;

	assert_int_equal(message_read(msg, &request, err), 0);
	if (strcmp(request.u.request.op, "poweroff") == 0) {
		m->stops = strcmp(m->script, "stubborn") != 0;
		m->stop = MACHINE_SHUTDOWN;
		return 0;
	}
	assert_string_equal(request.u.request.op, "job");
	if (strcmp(m->script, "oom") == 0)
		fake_console(m, "[ 1.0] Out of memory: Killed process 70 (hackbench)\n");
	if (!fake_breaks(m))
		fake_job(m, request.u.request.job);
	return 0;
}

static int fake_next(struct machine *machine, int timeout_ms, struct machine_event *ret,
		     struct lab_error *err)
{
	struct fake_machine *m = (struct fake_machine *)machine;
	static int64_t beat;

	(void)err;
	assert_false(m->stopped);
	if (json_array_size(m->queue)) {
		ret->kind = MACHINE_FRAME;
		ret->frame = json_incref(json_array_get(m->queue, 0));
		json_array_remove(m->queue, 0);
		return 0;
	}
	if (m->stops) {
		m->stopped = true;
		*ret = (struct machine_event){.kind = MACHINE_STOPPED, .stop = m->stop};
		snprintf(ret->text, sizeof(ret->text), "%s", machine_stop_name(m->stop));
		return 0;
	}
	if (m->garbage) {
		*ret = (struct machine_event){.kind = MACHINE_GARBAGE, .text = "length 4294967295"};
		return 0;
	}
	lab_sleep_ms((uint64_t)(timeout_ms < 2 ? timeout_ms : 2));
	if (strcmp(m->script, "stalled") != 0)
		return 0;
	ret->kind = MACHINE_FRAME;
	ret->frame = message_make_heartbeat(++beat, 7);
	return 0;
}

static int fake_collect(struct machine *machine, json_t **ret_facts, struct lab_error *err)
{
	(void)machine;
	(void)err;
	*ret_facts = json_pack("{s:s, s:s}", "qemu", "fake 1.0", "command_line", "fake -m 64");
	return 0;
}

static void fake_destroy(struct machine *machine)
{
	struct fake_machine *m = (struct fake_machine *)machine;

	lab_sleep_ms(fake_run_ms);
	fake_alive--;
	json_decref(m->queue);
	free(m);
}

static bool fake_emulated(const struct machine *machine)
{
	(void)machine;
	return !fake_kvm;
}

extern const struct target fake_target;
static const char *const fake_required[] = {"CONFIG_VIRTIO_CONSOLE=y", NULL};
const struct target fake_target = {
	.name = "fake",
	.help = "a script",
	.caps = {.streams = true,
		 .requests = true,
		 .heartbeats = true,
		 .time_unit = "s",
		 .needs_kvm = true,
		 .required_config = fake_required},
	.prepare = fake_prepare,
	.start = fake_start,
	.send = fake_send,
	.next_event = fake_next,
	.collect = fake_collect,
	.destroy = fake_destroy,
	.emulated = fake_emulated,
};

static int fake_find(const char *name, const struct target **ret, struct lab_error *err)
{
	if (strcmp(name, "fake") != 0)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "no target '%s'", name);
	*ret = &fake_target;
	return 0;
}

static int fake_probe(struct lab *lab, const char *emulator, struct kvm_result *ret,
		      struct lab_error *err)
{
	(void)lab;
	(void)emulator;
	(void)err;
	*ret = (struct kvm_result){.works = fake_kvm, .text = "it spins in the firmware"};
	return 0;
}

/* An artifact of one file. */
static int fake_artifact(struct lab *lab, const char *kind, const char *key, const char *file,
			 const char *text, struct artifact **ret, struct lab_error *err)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(free) char *path = NULL;

	if (artifact_find(lab, kind, key, ret, err) || *ret)
		return *ret ? 0 : -1;
	if (artifact_begin(lab, kind, key, &draft, err))
		return -1;
	path = lab_path_join(artifact_draft_dir(draft), file);
	if (lab_write_file(path, text, strlen(text), 0644, err))
		return -1;
	return artifact_commit(draft, key, NULL, ret, err);
}

static int fake_image(struct lab *lab, const struct image_request *request,
		      struct artifact **ret_image, bool *ret_cached, struct lab_error *err)
{
	assert_non_null(strstr(request->recipe, ".yaml"));
	*ret_cached = false;
	return fake_artifact(lab, ARTIFACT_IMAGE, "cafe0000cafe", IMAGE_ROOT, "root", ret_image,
			     err);
}

static int fake_initramfs(struct lab *lab, const char *agent, const char *modules,
			  struct artifact **ret, bool *ret_cached, struct lab_error *err)
{
	(void)ret_cached;
	assert_string_equal(agent, "/agent");
	snprintf(fake_initramfs_of, sizeof(fake_initramfs_of), "%s", modules ? modules : "none");
	return fake_artifact(lab, ARTIFACT_INITRAMFS, "beef0000beef", INITRAMFS_FILE, "agent", ret,
			     err);
}

static int fake_overlay(const char *base, const char *path, struct lab_error *err)
{
	assert_true(lab_file_exists(base));
	assert_false(lab_file_exists(path));
	return lab_write_file(path, "qcow", 4, 0644, err);
}

static int fake_ext4(const char *path, uint64_t bytes, const char *label, const char *uuid,
		     struct lab_error *err)
{
	(void)label;
	(void)uuid;
	assert_int_equal(bytes, 1 << 20);
	return lab_write_file(path, "ext4", 4, 0644, err);
}

static int fake_swap(const char *path, uint64_t bytes, const char *uuid, struct lab_error *err)
{
	(void)uuid;
	assert_int_equal(bytes, 2 << 20);
	return lab_write_file(path, "swap", 4, 0644, err);
}

/* A kernel is its build id; `config` is its .config. */
static int fake_kernel(struct lab *lab, const char *key, const char *build_id, const char *config,
		       struct artifact **ret, struct lab_error *err)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(free) char *image = NULL;
	LAB_CLEANUP(free) char *conf = NULL;
	LAB_CLEANUP(free) char *manifest = lab_asprintf("{\"build_id\": \"%s\"}", build_id);

	if (artifact_begin(lab, ARTIFACT_KERNEL, key, &draft, err))
		return -1;
	image = lab_path_join(artifact_draft_dir(draft), "bzImage");
	conf = lab_path_join(artifact_draft_dir(draft), "config");
	if (lab_write_file(image, build_id, strlen(build_id), 0644, err) ||
	    lab_write_file(conf, config, strlen(config), 0644, err))
		return -1;
	return artifact_commit(draft, build_id, manifest, ret, err);
}

static int fake_patchset(struct lab *lab, const char *spec, const char *a, const char *b,
			 struct lab_error *err)
{
	const struct patchset p = {.source = (char *)"linux",
				   .spec = (char *)spec,
				   .base = (char *)"1111111111111111111111111111111111111111",
				   .base_name = (char *)"v6.1",
				   .base_how = (char *)"a tag",
				   .head = (char *)"2222222222222222222222222222222222222222",
				   .commits = 2,
				   .subjects = (char *)"[\"a\", \"b\"]",
				   .kernel_a = (char *)a,
				   .kernel_b = (char *)b};

	return patchset_put(lab, &p, NULL, err);
}

#define FAKE_CONFIG "CONFIG_VIRTIO_CONSOLE=y\n# CONFIG_SLAB_MERGE_DEFAULT is not set\n"

static int fake_build(struct lab *lab, const struct build_request *request,
		      const struct build_progress *progress, struct build_result *ret_result,
		      struct lab_error *err)
{
	(void)progress;
	fake_builds++;
	assert_string_equal(request->required[0], fake_required[0]);
	if (strcmp(request->spec, "broken") == 0)
		return lab_error_set(err, LAB_ERR_FAILED, "mm/slub.c:7: error");
	if (fake_kernel(lab, "cccc00000000", "cccc", FAKE_CONFIG "CONFIG_X=y\n",
			&ret_result->a.kernel, err) ||
	    fake_kernel(lab, "dddd00000000", "dddd", FAKE_CONFIG "CONFIG_X=y\n",
			&ret_result->b.kernel, err) ||
	    fake_patchset(lab, request->spec, "cccc00000000", "dddd00000000", err))
		return -1;
	return patchset_latest(lab, &ret_result->patchset, err);
}

static const struct run_stages fake_stages = {
	.target = fake_find,
	.probe = fake_probe,
	.build = fake_build,
	.image = fake_image,
	.initramfs = fake_initramfs,
	.overlay = fake_overlay,
	.ext4 = fake_ext4,
	.swap = fake_swap,
};

#endif
