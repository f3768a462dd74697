/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Target exact: a transient libvirt domain whose course depends on its inputs alone. One
 * emulated vCPU whose clock counts instructions; disks that are memory of the guest; the
 * job in the initramfs, the answers in an outbox that is read when the machine has gone.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/hash.h"
#include "vmctl/local.h"
#include "vmctl/outbox.h"
#include "vmctl/ownership.h"
#include "vmctl/process.h"

/* Frames of one run; the guest keeps a page descriptor for each of its pages. */
#define OUTBOX_BYTES (64ull << 20)
#define OUTBOX_FILE "outbox.img"
#define OUTBOX_SERIAL "outbox"

#define PLUGIN_FILE "profile.so" /* our copy: QEMU's user may not go where the original is */

/* QEMU's NFIT numbers the slots from here; the kernel prints it the other way round. */
#define NFIT_SERIAL_BASE 0x123456u

struct exact {
	struct local local;
	struct domain_exact desc;
	struct target_job job; /* the caller's, with our volumes */
	struct target_volume *volumes;
	char *words;
	char *outbox_path;
	char *plugin_path, *plugin_out; /* or NULL */
	struct outbox *outbox;		/* while what arrived is told */
	uint64_t gone_since; /* lab_now_ms() when QEMU had gone before libvirt said so, or 0 */
};

/* How long QEMU may be gone before libvirt says how it ended. */
enum { GONE_MS = 3000, GONE_LOOK_MS = 50 };

static const char *const required_config[] = {
	"CONFIG_64BIT=y",      "CONFIG_ACPI=y",		  "CONFIG_ACPI_NFIT=y",
	"CONFIG_BLK_DEV_DM=y", "CONFIG_BLK_DEV_INITRD=y", "CONFIG_BLK_DEV_PMEM=y",
	"CONFIG_DEVTMPFS=y",   "CONFIG_DM_DELAY=y",	  "CONFIG_EXT4_FS=y",
	"CONFIG_LIBNVDIMM=y",  "CONFIG_ND_CLAIM=y",	  "CONFIG_SERIAL_8250_CONSOLE=y",
	"CONFIG_SWAP=y",       "CONFIG_TMPFS=y",	  NULL,
};

/* ---- prepare -------------------------------------------------------------------- */

static void exact_serial(unsigned index, const char *name, char out[TARGET_SERIAL])
{
	(void)name;
	snprintf(out, TARGET_SERIAL, "nfit-%08x", __builtin_bswap32(NFIT_SERIAL_BASE + index));
}

static void exact_destroy(struct machine *machine)
{
	struct exact *exact = (struct exact *)machine;

	if (!exact)
		return;
	local_release(&exact->local);
	outbox_free(exact->outbox);
	if (exact->outbox_path)
		unlink(exact->outbox_path);
	if (exact->plugin_path)
		unlink(exact->plugin_path);
	free(exact->outbox_path);
	free(exact->plugin_path);
	free(exact->plugin_out);
	free(exact->volumes);
	free(exact->words);
	free(exact);
}

/*
 * The UUID in the machine's SMBIOS, which reaches the guest's entropy, and the seed of what
 * QEMU draws at random: both from the run's seed, so that it decides everything. The domain
 * itself has another UUID: libvirt wants those of all its machines to differ.
 */
static void spread_seed(struct exact *exact, uint64_t seed)
{
	char text[64], hex[HASH_HEX], number[9];

	snprintf(text, sizeof(text), "labctl exact machine %" PRIu64, seed);
	hash_bytes(text, strlen(text), hex);
	/* Version 4, variant 1. */
	snprintf(exact->desc.uuid, sizeof(exact->desc.uuid), "%.8s-%.4s-4%.3s-8%.3s-%.12s", hex,
		 hex + 8, hex + 12, hex + 15, hex + 18);
	snprintf(number, sizeof(number), "%.8s", hex + 32);
	exact->desc.seed = (uint32_t)strtoul(number, NULL, 16);
}

static int add_outbox(struct exact *exact, const struct target_job *job, struct lab_error *err)
{
	char serial[TARGET_SERIAL];

	exact_serial(job->n_volumes, OUTBOX_SERIAL, serial);
	exact->words = lab_asprintf("labctl.channel=outbox:%s", serial);
	exact->outbox_path = lab_path_join(job->run_dir, OUTBOX_FILE);
	exact->volumes = LAB_NEW_ARRAY(struct target_volume, (size_t)job->n_volumes + 1);
	for (unsigned i = 0; i < job->n_volumes; i++)
		exact->volumes[i] = job->volumes[i];
	exact->volumes[job->n_volumes] = (struct target_volume){
		.serial = OUTBOX_SERIAL,
		.path = exact->outbox_path,
		.bus = VOLUME_NVDIMM,
		.bytes = OUTBOX_BYTES,
	};
	exact->job = *job;
	exact->job.volumes = exact->volumes;
	exact->job.n_volumes = job->n_volumes + 1;
	return outbox_create(exact->outbox_path, OUTBOX_BYTES, err);
}

static int add_plugin(struct exact *exact, const struct target_job *job, struct lab_error *err)
{
	const struct hypervisor_info *info = exact->local.info;
	const struct vm_owner owner = {info->uid, info->gid, info->user};

	if (!job->plugin)
		return 0;
	exact->plugin_path = lab_path_join(job->run_dir, PLUGIN_FILE);
	exact->plugin_out = lab_path_join(job->run_dir, TARGET_PROFILE);
	unlink(exact->plugin_path);
	exact->desc.plugin = exact->plugin_path;
	exact->desc.plugin_out = exact->plugin_out;
	if (lab_copy_sparse(job->plugin, exact->plugin_path, 0644, err) ||
	    lab_write_file(exact->plugin_out, "", 0, 0644, err) ||
	    ownership_give(&owner, exact->plugin_path, err) ||
	    ownership_give(&owner, exact->plugin_out, err))
		return -1;
	return 0;
}

static int prepare_all(struct exact *exact, const struct target_job *job, struct lab_error *err)
{
	struct local *local = &exact->local;

	if (add_outbox(exact, job, err))
		return -1;
	spread_seed(exact, job->seed);
	local->job = &exact->job;
	local->words = exact->words;
	local->desc.exact = &exact->desc;
	if (local_open(local, err) || add_plugin(exact, job, err) || local_prepare(local, err))
		return -1;
	return 0;
}

static int exact_prepare(const struct target_job *job, const struct kvm_result *probe,
			 struct machine **ret, struct lab_error *err)
{
	struct exact *exact = LAB_NEW(struct exact);

	(void)probe; /* it never uses KVM */
	exact->local.machine.target = &target_exact;
	if (prepare_all(exact, job, err)) {
		exact_destroy(&exact->local.machine);
		return -1;
	}
	*ret = &exact->local.machine;
	return 0;
}

/* ---- start and events ----------------------------------------------------------- */

static int exact_start(struct machine *machine, struct lab_error *err)
{
	struct local *local = (struct local *)machine;

	if (local_create(local, err))
		return -1;
	if (local_created(local, process_of_guest(local->name), err))
		return lab_error_wrap(err, "%s", local->name);
	return vm_resume(local->vm, err);
}

/* The machine has gone: from now on its outbox speaks, then the end is told. */
static void begin_reading(struct exact *exact, enum machine_stop stop, const char *text)
{
	struct lab_error why;

	local_set_stop(&exact->local, stop, text);
	if (outbox_open(exact->outbox_path, &exact->outbox, &why))
		local_warn(&exact->local, "%s", why.text);
}

static void tell(struct exact *exact, struct machine_event *ret)
{
	struct lab_error why;
	int rc = exact->outbox ? outbox_next(exact->outbox, &ret->frame, &why) : 0;

	if (rc == 1) {
		ret->kind = MACHINE_FRAME;
		return;
	}
	if (rc < 0)
		local_warn(&exact->local, "%s", why.text);
	local_tell_stop(&exact->local, ret);
}

/*
 * One look, without waiting. libvirt's word comes first: it knows a panic from a power-off.
 * When it says nothing, what the outbox holds still tells a run that came to its end.
 */
static void look(struct exact *exact)
{
	struct local *local = &exact->local;
	enum machine_stop stop;
	char text[200];

	if (vm_ended(local->vm, &stop, text, sizeof(text)))
		begin_reading(exact, stop, text);
	else if (exact->gone_since && lab_now_ms() - exact->gone_since > GONE_MS)
		begin_reading(exact, MACHINE_LOST, "QEMU is gone and libvirt says nothing");
}

static void wait_for_news(struct exact *exact, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = vm_wake_fd(exact->local.vm), .events = POLLIN},
				{.fd = vm_process_fd(exact->local.vm), .events = POLLIN}};

	if (exact->gone_since) {
		fds[1].fd = -1;
		timeout_ms = timeout_ms < GONE_LOOK_MS ? timeout_ms : GONE_LOOK_MS;
	}
	if (poll(fds, 2, timeout_ms) > 0 && fds[1].revents)
		exact->gone_since = lab_now_ms();
}

static int exact_next_event(struct machine *machine, int timeout_ms, struct machine_event *ret,
			    struct lab_error *err)
{
	struct exact *exact = (struct exact *)machine;
	struct local *local = &exact->local;
	uint64_t end = lab_now_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);

	if (!local->vm)
		return lab_error_set(err, LAB_ERR_INVALID, "%s was not started", local->name);
	while (!local->stopped) {
		uint64_t now = lab_now_ms();

		look(exact);
		if (local->stopped)
			break;
		if (now >= end)
			return 0;
		wait_for_news(exact, (int)(end - now));
	}
	tell(exact, ret);
	return 0;
}

static void exact_halt(struct machine *machine)
{
	struct exact *exact = (struct exact *)machine;

	if (!exact->local.vm || exact->local.stopped)
		return;
	vm_halt(exact->local.vm);
	begin_reading(exact, MACHINE_LOST, "stopped by its deadline");
}

/* Its times are counted, not estimated: they need no allowance. */
static bool exact_emulated(const struct machine *machine)
{
	(void)machine;
	return false;
}

const struct target target_exact = {
	.name = "exact",
	.help = "emulated machine that gives the same bytes on every host, times in instructions",
	.caps =
		{
			.time_unit = TARGET_INSTRUCTIONS,
			.max_vcpus = 1,
			.local = true,
			.slow = true,
			.exact = true,
			.profiles = true,
			.required_config = required_config,
		},
	.serial = exact_serial,
	.prepare = exact_prepare,
	.start = exact_start,
	.next_event = exact_next_event,
	.halt = exact_halt,
	.collect = local_collect,
	.destroy = exact_destroy,
	.emulated = exact_emulated,
};
