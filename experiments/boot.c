/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/rng.h"
#include "experiments/facts.h"
#include "experiments/resolve.h"
#include "experiments/talk.h"
#include "experiments/watch.h"
#include "protocol/frame.h"
#include "vmctl/console.h"

/* How often the loop looks up from waiting: for the user's wish to stop and for the display. */
#define BOOT_TICK_MS 200

/* The exact target's disks answer after this time: a modelled constant. */
enum { EXACT_DELAY_MS = 1, EXACT_WAIT_NS = 20000000 };

enum { ROOT, DATA, SWAP, N_VOLUMES };

static const char *const volume_files[N_VOLUMES] = {"root.img", "data.img", "swap.img"};
#define OVERLAY "root.qcow2"
/* The initramfs with the job in it, where nothing is sent to the machine. */
#define JOB_INITRAMFS "initramfs.cpio"
static const char *const made_files[] = {"root.img", OVERLAY, "data.img", "swap.img",
					 JOB_INITRAMFS};
/* What a machine whose owner was killed leaves beside them. */
static const char *const stray_files[] = {"console.in", "console.out", "outbox.img", "profile.so"};

/* One run on its way. */
struct boot {
	const struct setup *setup;
	const struct run *run;
	struct resolve what; /* variant and cell */
	const struct kernel *kernel;
	struct run_status *status;
	char *name; /* "7.41" */
	char *cmdline;
	char *initramfs; /* with the job in it, or NULL */
	struct job job;
	char *paths[N_VOLUMES];
	struct target_volume volumes[N_VOLUMES];
	unsigned n_volumes;
	unsigned steps; /* of the job */
	struct target_job target;
	struct machine *machine;
	int frames; /* fd */
	struct record record;
	struct watch watch;
	bool job_sent, stopped;
	struct lab_strv notes;
	struct boot_facts facts;
};

static void remove_files(const char *dir, const char *const *names, size_t n)
{
	for (size_t i = 0; dir && i < n; i++) {
		LAB_CLEANUP(free) char *path = lab_path_join(dir, names[i]);

		unlink(path);
	}
}

void boot_remove_volumes(const char *dir)
{
	remove_files(dir, made_files, LAB_COUNT(made_files));
}

void boot_remove_leftovers(const char *dir)
{
	boot_remove_volumes(dir);
	remove_files(dir, stray_files, LAB_COUNT(stray_files));
}

static void show(struct boot *b, const char *phase)
{
	const struct run_progress *progress = b->setup->progress;

	if (phase)
		b->status->phase = phase;
	if (progress && progress->status)
		progress->status(progress->ctx, b->status);
}

static void add_volume(struct boot *b, const char *serial, size_t file, uint64_t bytes)
{
	bool exact = b->setup->target->caps.exact;
	bool overlay = file == ROOT && !exact;

	b->paths[file] = lab_path_join(b->run->dir, overlay ? OVERLAY : volume_files[file]);
	b->volumes[b->n_volumes++] = (struct target_volume){
		.serial = serial,
		.path = b->paths[file],
		.format = overlay ? VOLUME_QCOW2 : VOLUME_RAW,
		.backing = overlay ? b->setup->root : NULL,
		.bus = exact	      ? VOLUME_NVDIMM
		       : file == ROOT ? VOLUME_VIRTIO
				      : VOLUME_NVME,
		.bytes = bytes,
	};
}

/* An untouched root, an empty data drive and swap space: all new for every run. */
static int make_volumes(struct boot *b, struct lab_error *err)
{
	const struct setup *s = b->setup;
	bool exact = s->target->caps.exact;

	boot_remove_volumes(b->run->dir);
	add_volume(b, "root", ROOT, s->root_bytes);
	if (exact ? s->stages->copy(s->root, b->paths[ROOT], err)
		  : s->stages->overlay(s->root, b->paths[ROOT], err))
		return -1;
	if (s->preset->data) {
		add_volume(b, "data", DATA, s->preset->data);
		if (s->stages->ext4(b->paths[DATA], s->preset->data, "data", NULL, err))
			return -1;
	}
	if (s->preset->swap) {
		add_volume(b, "swap", SWAP, s->preset->swap);
		if (s->stages->swap(b->paths[SWAP], s->preset->swap, NULL, err))
			return -1;
	}
	return 0;
}

/* What each disk of the job is called in the guest, in the order of the volumes. */
static void add_disks(struct boot *b)
{
	const struct setup *s = b->setup;
	unsigned delay = s->target->caps.exact && !s->experiment->sync_storage ? EXACT_DELAY_MS : 0;
	char serial[TARGET_SERIAL];

	for (unsigned i = 0; i < b->n_volumes; i++) {
		const struct target_volume *v = &b->volumes[i];

		target_serial(s->target, i, v->serial, serial);
		if (v->path == b->paths[ROOT]) {
			job_set_root(&b->job, serial, v->bytes, "ext4", NULL);
		} else if (v->path == b->paths[DATA]) {
			job_add_mount(&b->job, serial, v->bytes, "/data", "ext4", NULL);
			b->job.mounts[b->job.n_mounts - 1].disk.delay_ms = delay;
		} else {
			job_add_swap(&b->job, serial, v->bytes);
			b->job.swaps[b->job.n_swaps - 1].disk.delay_ms = delay;
		}
	}
}

static uint64_t draw_wait(uint64_t seed)
{
	struct lab_rng rng;

	lab_rng_seed(&rng, seed);
	return lab_rng_below(&rng, EXACT_WAIT_NS);
}

static int make_job(struct boot *b, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(b->run->dir, "job.json");
	LAB_CLEANUP(free) char *text = NULL;
	const struct setup *s = b->setup;
	bool exact = s->target->caps.exact;
	json_auto_t *json = NULL;

	if (resolve_job(&b->what, s->stretch, &b->job, err))
		return -1;
	free(b->job.run);
	/* It is in the machine's memory: the same run must be the same bytes in every campaign. */
	b->job.run = lab_strdup(exact ? "exact" : b->name);
	b->job.seed = b->run->seed;
	if (exact)
		b->job.wait_ns = draw_wait(b->run->seed);
	add_disks(b);
	for (size_t i = 0; i < b->job.n_phases; i++)
		b->steps += (unsigned)b->job.phases[i].n_steps;
	if (job_to_json(&b->job, &json, err))
		return -1;
	text = json_dumps(json, JSON_INDENT(1));
	hash_bytes(text, strlen(text), b->facts.job_hash);
	if (lab_write_file(path, text, strlen(text), 0644, err))
		return -1;
	if (s->target->caps.requests)
		return 0;
	b->initramfs = lab_path_join(b->run->dir, JOB_INITRAMFS);
	return s->stages->initramfs_append(b->kernel->initramfs_path, &JOB_FILE[1], text,
					   b->initramfs, err);
}

static void warned(void *ctx, const char *text)
{
	struct boot *b = ctx;

	if (b->facts.warnings.n < 20)
		lab_strv_add(&b->facts.warnings, text);
}

static int prepare_machine(struct boot *b, struct lab_error *err)
{
	const struct setup *s = b->setup;

	b->target = (struct target_job){
		.lab = lab_id(s->lab),
		.run = b->name,
		.run_dir = b->run->dir,
		.connect = s->request->connect,
		.hypervisor = s->hypervisor,
		.kernel = b->kernel->bzimage,
		.initramfs = b->initramfs ? b->initramfs : b->kernel->initramfs_path,
		.seed = b->run->seed,
		.cmdline = b->cmdline,
		.cpu_model = s->experiment->cpu_model,
		.memory = s->preset->memory,
		.vcpus = s->preset->vcpus,
		.volumes = b->volumes,
		.n_volumes = b->n_volumes,
		.plugin = s->request->profile ? s->request->plugin : NULL,
		.allow_emulated = s->request->allow_emulated,
		.warn = warned,
		.ctx = b,
	};
	return machine_prepare(s->target, &b->target, &s->probe, &b->machine, err);
}

static int open_frames(struct boot *b, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(b->run->dir, BOOT_FRAMES);

	b->frames = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return b->frames < 0 ? lab_error_errno(err, errno, "create '%s'", path) : 0;
}

/* Kept as it came, before anybody makes sense of it. */
static void keep_frame(struct boot *b, const json_t *frame)
{
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;
	struct lab_error why;

	if (frame_encode(frame, &bytes, &why) ||
	    lab_write_all(b->frames, bytes.data, bytes.len, &why))
		watch_end(&b->watch, RUN_END_IO_ERROR, why.text);
}

static int send_request(struct boot *b, int64_t id, const char *op, json_t *job,
			struct lab_error *err)
{
	json_auto_t *request = message_make_request(id, op, job);

	return machine_send(b->machine, request, err);
}

static void send_job(struct boot *b)
{
	json_auto_t *job = NULL;
	struct lab_error why;

	b->job_sent = true;
	show(b, "job");
	if (!b->setup->target->caps.requests)
		return;
	if (job_to_json(&b->job, &job, &why) || send_request(b, 1, "job", job, &why))
		watch_end(&b->watch, RUN_END_HOST, why.text);
}

/* The phase and step at hand, for the progress line. */
static void show_record(struct boot *b)
{
	const struct record *r = &b->record;
	unsigned ended = 0;

	for (size_t i = 0; i < r->n_steps; i++)
		ended += r->steps[i].ended;
	b->status->percent = b->steps ? ended * 100 / b->steps : 0;
	show(b, r->n_phases ? r->phases[r->n_phases - 1].name : NULL);
}

static void take_event(struct boot *b, const struct machine_event *event)
{
	switch (event->kind) {
	case MACHINE_TIMEOUT:
		show(b, NULL);
		break;
	case MACHINE_FRAME:
		keep_frame(b, event->frame);
		watch_frame(&b->watch, event->frame, lab_now_ms());
		if (b->watch.hello && !b->job_sent && !b->watch.ended)
			send_job(b);
		if (!b->watch.done)
			show_record(b);
		break;
	case MACHINE_GARBAGE:
		watch_end(&b->watch, RUN_END_GARBAGE, event->text);
		break;
	case MACHINE_STOPPED:
		b->stopped = true;
		watch_stopped(&b->watch, event->stop, event->text);
		break;
	}
}

/* One turn of waiting, ms at most. */
static void turn(struct boot *b, int ms)
{
	struct machine_event event = {0};
	struct lab_error why;

	if (machine_next_event(b->machine, ms, &event, &why)) {
		watch_end(&b->watch, RUN_END_HOST, why.text);
		b->stopped = true;
		return;
	}
	take_event(b, &event);
	machine_event_release(&event);
}

/* Until the watch says that it is over. */
static void follow(struct boot *b)
{
	while (!b->watch.ended) {
		int ms = watch_wait(&b->watch, lab_now_ms(), BOOT_TICK_MS);

		if (talk_cancelled(b->setup->progress))
			watch_end(&b->watch, RUN_END_CANCELLED, NULL);
		if (!b->watch.ended)
			turn(b, ms);
	}
}

/* After an end that the agent told, the machine powers itself off; others are destroyed. */
static void power_off(struct boot *b)
{
	uint64_t deadline = lab_deadline_in(b->watch.limits.poweroff);
	struct lab_error why;

	if (!b->watch.done || b->stopped)
		return;
	show(b, "collect");
	if (b->setup->target->caps.requests && send_request(b, 2, "poweroff", NULL, &why))
		return;
	while (!b->stopped && lab_deadline_left(deadline) > 0 &&
	       !talk_cancelled(b->setup->progress)) {
		int left = lab_deadline_left(deadline);

		turn(b, left < BOOT_TICK_MS ? left : BOOT_TICK_MS);
	}
	if (!b->stopped)
		warned(b, "it did not power off when it was asked to, and was destroyed");
}

/* How far the guest's own clock had come when it was last heard of. */
static int64_t newest_time(const struct record *r)
{
	int64_t t = r->hello.t_ns;

	if (r->heartbeat_ns > t)
		t = r->heartbeat_ns;
	if (r->n_rows && r->rows[r->n_rows - 1].t_ns > t)
		t = r->rows[r->n_rows - 1].t_ns;
	return t;
}

/*
 * A machine that does not stream is not heard before it has gone: one that was stuck is
 * ended, and what it had to say until then is kept.
 */
static void hear_the_rest(struct boot *b)
{
	size_t n;

	if (b->setup->target->caps.streams || b->stopped || b->watch.done)
		return;
	machine_halt(b->machine);
	while (!b->stopped)
		turn(b, 0);
	n = strlen(b->watch.text);
	if (b->watch.end != RUN_END_TOTAL)
		return;
	if (b->record.has_hello)
		snprintf(b->watch.text + n, sizeof(b->watch.text) - n,
			 "; its clock had come to %.3f s when it was last heard of",
			 (double)newest_time(&b->record) / 1e9);
	else
		snprintf(b->watch.text + n, sizeof(b->watch.text) - n, "; it never said hello");
}

static struct experiment_deadlines stretched(const struct setup *s)
{
	struct experiment_deadlines d = s->preset->deadlines;
	uint64_t *all[] = {&d.boot, &d.heartbeat, &d.progress, &d.total, &d.poweroff};

	for (size_t i = 0; i < LAB_COUNT(all); i++)
		*all[i] = (uint64_t)((double)*all[i] * s->stretch);
	return d;
}

/* From nothing to a started machine. -1: *ret_end says whose fault it is. */
static int launch(struct boot *b, enum run_end *ret_end, struct lab_error *err)
{
	const struct experiment_deadlines limits = stretched(b->setup);

	*ret_end = RUN_END_IO_ERROR;
	if (open_frames(b, err) || make_volumes(b, err) || make_job(b, err))
		return -1;
	*ret_end = RUN_END_HOST;
	if (prepare_machine(b, err))
		return -1;
	b->facts.prepared = lab_now_ms();
	show(b, "boot");
	if (machine_start(b->machine, err))
		return -1;
	watch_init(&b->watch, &b->record, &limits, lab_now_ms());
	b->watch.build_id = b->kernel->build_id;
	b->watch.streams = b->setup->target->caps.streams;
	return 0;
}

/* The worst that the console shows, and the line. */
static enum run_console console_end(const struct console_verdict *v, const char **ret_text)
{
	static const struct {
		enum console_kind kind;
		enum run_console end;
	} worst[] = {{CONSOLE_PANIC, RUN_CONSOLE_PANIC},
		     {CONSOLE_OOPS, RUN_CONSOLE_OOPS},
		     {CONSOLE_OOM, RUN_CONSOLE_OOM}};

	for (size_t i = 0; i < LAB_COUNT(worst); i++) {
		if (!v->hits[worst[i].kind].count)
			continue;
		*ret_text = v->hits[worst[i].kind].text;
		return worst[i].end;
	}
	return RUN_CONSOLE_CLEAN;
}

static void scan_console(struct boot *b)
{
	LAB_CLEANUP(free) char *path = lab_path_join(b->run->dir, "console.log");
	struct lab_error why;

	if (console_scan(path, &b->facts.console, &why))
		warned(b, why.text);
}

/* What a hang is about is often on the console: a lockup, or where the boot stopped. */
static void explain_silence(struct boot *b)
{
	const struct console_verdict *v = &b->facts.console;
	const char *line = v->hits[CONSOLE_HUNG].count ? v->hits[CONSOLE_HUNG].text : v->last;
	size_t n = strlen(b->watch.text);

	if (b->watch.end != RUN_END_BOOT && b->watch.end != RUN_END_SILENT)
		return;
	if (b->watch.end == RUN_END_SILENT && !v->hits[CONSOLE_HUNG].count)
		return;
	snprintf(b->watch.text + n, sizeof(b->watch.text) - n, "; the console ends with '%.150s'",
		 *line ? line : "(nothing)");
}

static void scale_sample(const struct metric_list *metrics, struct sample *sample)
{
	for (size_t i = 0; i < sample->n; i++) {
		const struct metric *m = metric_find(metrics, sample->items[i].metric);

		for (size_t k = 0; m && k < sample->items[i].n; k++)
			sample->items[i].values[k] *= m->scale;
	}
}

static void judge(struct boot *b, struct boot_result *result)
{
	struct run_evidence evidence = {.end = b->watch.end};
	struct lab_error why = {0};

	scan_console(b);
	explain_silence(b);
	evidence.end_text = b->watch.text;
	evidence.console = console_end(&b->facts.console, &evidence.console_text);
	if (b->watch.end == RUN_END_DONE && evidence.console == RUN_CONSOLE_CLEAN) {
		evidence.workload_failed =
			resolve_sample(&b->what, &b->record, &result->sample, &b->notes, &why) != 0;
		scale_sample(&b->setup->metrics, &result->sample);
		/* The agent's word counts even where the parsers found everything in order. */
		if (!evidence.workload_failed && !b->record.ok) {
			evidence.workload_failed = true;
			sample_release(&result->sample);
			snprintf(why.text, sizeof(why.text), "%s", b->watch.text);
		}
		evidence.workload_text = why.text;
	}
	run_classify(&evidence, &result->verdict);
}

static void collect(struct boot *b, struct boot_result *result)
{
	struct lab_error why;

	if (b->machine && machine_collect(b->machine, &b->facts.machine, &why))
		warned(b, why.text);
	result->emulated = b->machine ? machine_emulated(b->machine) : b->setup->emulated;
	machine_free(LAB_TAKE(b->machine));
	b->facts.stopped = lab_now_ms();
}

static void boot_init(struct boot *b, const struct setup *setup, const struct run *run,
		      struct run_status *status)
{
	*b = (struct boot){.setup = setup, .run = run, .status = status, .frames = -1};
	b->facts.begun = lab_now_ms();
	b->what = (struct resolve){setup->experiment, setup->preset,
				   setup_variant(setup, run->variant),
				   plan_cell_find(setup->plan, run->cell)};
	b->kernel = kernel_find(&setup->kernels, b->what.variant->kernel);
	b->name = lab_asprintf("%lld.%u", (long long)run->campaign, run->number);
	b->cmdline = setup_cmdline(setup, b->what.variant);
	status->percent = 0;
	show(b, "prepare");
}

static void boot_release(struct boot *b)
{
	machine_free(b->machine);
	job_release(&b->job);
	record_release(&b->record);
	boot_facts_release(&b->facts);
	lab_strv_release(&b->notes);
	for (size_t i = 0; i < LAB_COUNT(b->paths); i++)
		free(b->paths[i]);
	free(b->name);
	free(b->cmdline);
	free(b->initramfs);
	if (b->frames >= 0)
		close(b->frames);
}

void boot_run(const struct setup *setup, const struct run *run, struct run_status *status,
	      struct boot_result *ret_result)
{
	struct lab_error why = {0};
	enum run_end failed;
	struct boot b;

	*ret_result = (struct boot_result){0};
	boot_init(&b, setup, run, status);
	if (launch(&b, &failed, &why)) {
		ret_result->hopeless = !b.machine;
		watch_end(&b.watch, failed, why.text);
	} else {
		follow(&b);
		hear_the_rest(&b);
		power_off(&b);
	}
	collect(&b, ret_result);
	judge(&b, ret_result);
	boot_remove_volumes(run->dir);
	ret_result->ms = lab_now_ms() - b.facts.begun;
	b.facts.watch = &b.watch;
	b.facts.record = &b.record;
	b.facts.notes = &b.notes;
	ret_result->facts = boot_facts_json(&b.facts, run->dir);
	ret_result->fingerprint = boot_fingerprint_json(&b.facts, setup, run, b.cmdline);
	boot_release(&b);
}

void boot_result_release(struct boot_result *result)
{
	sample_release(&result->sample);
	free(result->facts);
	free(result->fingerprint);
}
