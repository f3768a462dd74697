/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives one machine for the integration tests and says on standard output what
 * happened, one event a line:
 *
 *   started | frame TYPE ... | garbage WORDS | stopped REASON: WORDS | timeout | error WORDS
 *   | console KIND: LINE
 *
 * Arguments are KEY=VALUE: kernel, initramfs, dir (the run directory), connect, cmdline,
 * name, memory (MiB), vcpus, root, data, swap (paths of raw images or, for root, of a
 * qcow2 overlay with base=), emulated (0: refuse to emulate), deadline (s), repeat, stall (s in which nobody looks), and any
 * number of step=PROGRAM,ARGUMENT,...: with steps the job is sent after the hello and a
 * power-off is asked for when it is done; without, the machine is only watched.
 * setting=KEY,VALUE adds a setting that is written; bare=1 leaves disks unmounted.
 *
 * `machine_test initramfs AGENT MODULES|- FILE [PROGRAM]` makes an initramfs; PROGRAM is
 * put beside the agent under its own name.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "archive/writer.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"
#include "images/initramfs.h"
#include "protocol/job.h"
#include "protocol/message.h"
#include "protocol/record.h"
#include "vmctl/console.h"
#include "vmctl/hypervisor.h"
#include "vmctl/target.h"

struct options {
	const char *kernel, *initramfs, *dir, *connect, *cmdline, *name, *root, *base, *data, *swap;
	uint64_t memory, vcpus, deadline, repeat, emulated, stall, bare;
	struct lab_strv steps, settings;
};

static int complain(const struct lab_error *err)
{
	printf("error %s\n", err->text);
	return 1;
}

static int number(const char *text, uint64_t *ret, struct lab_error *err)
{
	return lab_parse_u64(text, ret, err);
}

static int read_option(struct options *o, char *arg, struct lab_error *err)
{
	char *value = strchr(arg, '=');
	const struct {
		const char *key;
		const char **text;
		uint64_t *number;
		struct lab_strv *list;
	} table[] = {
		{"kernel", &o->kernel, NULL, NULL},	{"initramfs", &o->initramfs, NULL, NULL},
		{"dir", &o->dir, NULL, NULL},		{"connect", &o->connect, NULL, NULL},
		{"cmdline", &o->cmdline, NULL, NULL},	{"name", &o->name, NULL, NULL},
		{"root", &o->root, NULL, NULL},		{"base", &o->base, NULL, NULL},
		{"data", &o->data, NULL, NULL},		{"swap", &o->swap, NULL, NULL},
		{"memory", NULL, &o->memory, NULL},	{"vcpus", NULL, &o->vcpus, NULL},
		{"deadline", NULL, &o->deadline, NULL}, {"repeat", NULL, &o->repeat, NULL},
		{"emulated", NULL, &o->emulated, NULL}, {"step", NULL, NULL, &o->steps},
		{"setting", NULL, NULL, &o->settings},	{"stall", NULL, &o->stall, NULL},
		{"bare", NULL, &o->bare, NULL},
	};

	if (!value)
		return lab_error_set(err, LAB_ERR_USAGE, "not KEY=VALUE: %s", arg);
	*value++ = '\0';
	for (size_t i = 0; i < LAB_COUNT(table); i++) {
		if (strcmp(table[i].key, arg) != 0)
			continue;
		if (table[i].number)
			return number(value, table[i].number, err);
		if (table[i].list)
			lab_strv_add(table[i].list, value);
		else
			*table[i].text = value;
		return 0;
	}
	return lab_error_set(err, LAB_ERR_USAGE, "no option %s", arg);
}

/* ---- the job -------------------------------------------------------------------- */

static int make_job(const struct options *o, json_t **ret, struct lab_error *err)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	struct job_phase *phase;

	job.run = lab_strdup("1.1");
	job.seed = 1;
	if (o->root && !o->bare)
		job_set_root(&job, "root", 0, "ext4", NULL);
	if (o->swap && !o->bare)
		job_add_swap(&job, "swap", 0);
	for (size_t i = 0; i < o->settings.n; i++) {
		LAB_CLEANUP(strv) struct lab_strv parts = LAB_STRV_INIT;

		lab_strv_split(&parts, o->settings.items[i], ",");
		if (parts.n == 2)
			job_add_setting(&job, JOB_WRITE, parts.items[0], parts.items[1]);
	}
	job.collect.interval_ms = 100;
	lab_strv_add(&job.collect.series, "meminfo");
	lab_strv_add(&job.collect.snapshots, "cpuinfo");
	phase = job_add_phase(&job, JOB_PHASE_RUN);
	for (size_t i = 0; i < o->steps.n; i++) {
		LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;
		LAB_CLEANUP(free) char *name = lab_asprintf("step%zu", i + 1);

		lab_strv_split(&argv, o->steps.items[i], ",");
		job_phase_add_step(phase, name, (const char *const *)argv.items, 0);
	}
	return job_to_json(&job, ret, err);
}

static int answer(struct machine *m, const struct options *o, const struct message *msg,
		  struct lab_error *err)
{
	json_t *job = NULL, *request = NULL;
	int result = 0;

	if (!o->steps.n)
		return 0;
	if (msg->type == MESSAGE_HELLO) {
		if (make_job(o, &job, err))
			return -1;
		request = message_make_request(1, "job", job);
	} else if (msg->type == MESSAGE_DONE) {
		request = message_make_request(2, "poweroff", NULL);
	}
	if (request)
		result = machine_send(m, request, err);
	json_decref(job);
	json_decref(request);
	return result;
}

static void tell_frame(const struct message *msg)
{
	switch (msg->type) {
	case MESSAGE_HELLO:
		printf("frame hello %d %s\n", (int)msg->u.hello.protocol,
		       msg->u.hello.kernel_release);
		break;
	case MESSAGE_STEP:
		printf("frame step %s %s %d\n", msg->u.step.step, msg->u.step.end ? "end" : "begin",
		       (int)msg->u.step.exit_code);
		break;
	case MESSAGE_REPLY:
		printf("frame reply %d %s\n", (int)msg->u.reply.id,
		       msg->u.reply.ok ? "ok" : msg->u.reply.error);
		break;
	case MESSAGE_DONE:
		printf("frame done %s\n", msg->u.done.ok ? "ok" : msg->u.done.error);
		break;
	case MESSAGE_LOG:
		printf("frame log %s: %s\n", msg->u.log.level, msg->u.log.text);
		break;
	default:
		break;
	}
}

/* ---- one machine ---------------------------------------------------------------- */

struct times {
	uint64_t begin, started, hello, done, stopped;
};

static int on_frame(struct machine *m, const struct options *o, json_t *frame,
		    struct record *record, struct times *t, struct lab_error *err)
{
	struct message msg;

	if (message_read(frame, &msg, err) || record_feed(record, frame, err)) {
		printf("refused %s\n", err->text);
		return 0;
	}
	if (msg.type == MESSAGE_HELLO && !t->hello)
		t->hello = lab_now_ms();
	if (msg.type == MESSAGE_DONE)
		t->done = lab_now_ms();
	tell_frame(&msg);
	if (msg.type == MESSAGE_HELLO && msg.u.hello.protocol != MESSAGE_PROTOCOL)
		return lab_error_set(err, LAB_ERR_INVALID, "agent speaks protocol %d",
				     (int)msg.u.hello.protocol);
	return answer(m, o, &msg, err);
}

/* Until it stops: 0, or 3 when the deadline passed. */
static int follow(struct machine *m, const struct options *o, struct record *record,
		  struct times *t, struct lab_error *err)
{
	uint64_t deadline = lab_deadline_in(o->deadline * 1000);

	for (;;) {
		struct machine_event event;
		int left = lab_deadline_left(deadline);

		if (left == 0) {
			printf("timeout\n");
			return 3;
		}
		if (machine_next_event(m, left, &event, err))
			return 1;
		if (event.kind == MACHINE_GARBAGE)
			printf("garbage %s\n", event.text);
		if (event.kind == MACHINE_FRAME && on_frame(m, o, event.frame, record, t, err)) {
			machine_event_release(&event);
			return 1;
		}
		machine_event_release(&event);
		if (event.kind == MACHINE_STOPPED) {
			t->stopped = lab_now_ms();
			printf("stopped %s: %s\n", machine_stop_name(event.stop), event.text);
			return 0;
		}
	}
}

static int save_facts(struct machine *m, const struct options *o, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(o->dir, "facts.json");
	LAB_CLEANUP(free) char *text = NULL;
	json_t *facts = NULL;

	if (machine_collect(m, &facts, err))
		return 1;
	text = json_dumps(facts, JSON_INDENT(1));
	json_decref(facts);
	return lab_write_file(path, text, strlen(text), 0644, err) ? 1 : 0;
}

static int tell_console(const struct options *o, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(o->dir, "console.log");
	struct console_verdict v;

	if (console_scan(path, &v, err))
		return 1;
	for (int k = 0; k < CONSOLE_KINDS; k++) {
		if (v.hits[k].count)
			printf("console %s: %s\n", console_kind_name((enum console_kind)k),
			       v.hits[k].text);
	}
	return 0;
}

static unsigned add_volumes(const struct options *o, struct target_volume *v)
{
	unsigned n = 0;

	if (o->root)
		v[n++] = (struct target_volume){.serial = "root",
						.path = o->root,
						.format = o->base ? VOLUME_QCOW2 : VOLUME_RAW,
						.backing = o->base,
						.bus = VOLUME_VIRTIO};
	if (o->data)
		v[n++] = (struct target_volume){
			.serial = "data", .path = o->data, .bus = VOLUME_NVME};
	if (o->swap)
		v[n++] = (struct target_volume){
			.serial = "swap", .path = o->swap, .bus = VOLUME_NVME};
	return n;
}

static void warn(void *ctx, const char *text)
{
	(void)ctx;
	printf("warning %s\n", text);
}

static int one_run(const struct options *o, unsigned i, struct hypervisor *hv,
		   const struct kvm_result *kvm, struct lab_error *err)
{
	LAB_CLEANUP(free) char *run = i ? lab_asprintf("%s-%u", o->name, i) : lab_strdup(o->name);
	struct target_volume volumes[3];
	const struct target_job job = {
		.lab = "0123456789abcdef",
		.run = run,
		.run_dir = o->dir,
		.hypervisor = hv,
		.kernel = o->kernel,
		.initramfs = o->initramfs,
		.cmdline = o->cmdline,
		.memory = o->memory << 20,
		.vcpus = (unsigned)o->vcpus,
		.volumes = volumes,
		.n_volumes = add_volumes(o, volumes),
		.allow_emulated = o->emulated,
		.warn = warn,
	};
	LAB_CLEANUP(machine) struct machine *m = NULL;
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	struct times t = {.begin = lab_now_ms()};
	const struct target *target;
	int status;

	if (target_find("live", &target, err) || machine_prepare(target, &job, kvm, &m, err) ||
	    machine_start(m, err))
		return 1;
	t.started = lab_now_ms();
	printf("started\n");
	lab_sleep_ms(o->stall * 1000);
	status = follow(m, o, &record, &t, err);
	if (status == 1 || save_facts(m, o, err) || tell_console(o, err))
		return 1;
	printf("rows %zu\n", record.n_rows);
	machine_free(LAB_TAKE(m));
	printf("ms start %d hello %d done %d stopped %d total %d\n", (int)(t.started - t.begin),
	       (int)(t.hello ? t.hello - t.begin : 0), (int)(t.done ? t.done - t.begin : 0),
	       (int)(t.stopped ? t.stopped - t.begin : 0), (int)(lab_now_ms() - t.begin));
	return status;
}

/* ---- initramfs ------------------------------------------------------------------ */

static int append_program(const char *program, const char *image, struct lab_error *err)
{
	LAB_CLEANUP(free) char *extra = lab_asprintf("%s.extra", image);
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;
	struct archive_writer *w = NULL;
	int result;

	if (archive_writer_new(extra, ARCHIVE_CPIO_NEWC, &w, err))
		return -1;
	result = archive_writer_add_file(w, lab_path_base(program), 0755, program, err) ||
		 archive_writer_close(w, err);
	archive_writer_free(w);
	/* The kernel unpacks archives one after another. */
	if (result || lab_read_file(image, 1 << 28, &bytes, err) ||
	    lab_read_file(extra, 1 << 28, &bytes, err) ||
	    lab_write_file(image, bytes.data, bytes.len, 0644, err))
		return -1;
	return lab_remove_tree(extra, err);
}

static int make_initramfs(int argc, char **argv, struct lab_error *err)
{
	const char *modules = argc > 3 && strcmp(argv[3], "-") != 0 ? argv[3] : NULL;

	if (argc < 5)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "initramfs AGENT MODULES|- FILE [PROGRAM]");
	if (initramfs_write(argv[2], modules, argv[4], err))
		return -1;
	return argc > 5 ? append_program(argv[5], argv[4], err) : 0;
}

int main(int argc, char **argv)
{
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = NULL;
	struct options o = {.name = "1.1",
			    .memory = 512,
			    .vcpus = 1,
			    .deadline = 60,
			    .repeat = 1,
			    .emulated = 1};
	struct kvm_result kvm;
	struct lab_error err;
	int status = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "initramfs"))
		return make_initramfs(argc, argv, &err) ? complain(&err) : 0;
	for (int i = 1; i < argc; i++) {
		if (read_option(&o, argv[i], &err))
			return complain(&err);
	}
	if (!o.kernel || !o.initramfs || !o.dir) {
		printf("error kernel, initramfs and dir are needed\n");
		return 2;
	}
	if (kvm_probe(NULL, NULL, &kvm, &err) || hypervisor_open(o.connect, &hv, &err))
		return complain(&err);
	for (uint64_t i = 0; i < o.repeat && !status; i++) {
		status = one_run(&o, (unsigned)i, hv, &kvm, &err);
		if (status == 1)
			complain(&err);
	}
	lab_strv_release(&o.steps);
	lab_strv_release(&o.settings);
	return status;
}
