/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Target live: a transient libvirt domain with an agent on a virtio-serial port. */
#include "vmctl/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "vmctl/ownership.h"
#include "vmctl/process.h"

/* How long a channel may be closed before a machine that says nothing counts as lost. */
enum { CLOSED_MS = 3000, MAX_VCPUS = 64 };

/* The limit that libvirt sets for "all", in bytes. */
#define LIBVIRT_ALL_MEMORY ((rlim_t)9007199254740991)

static const char *const required_config[] = {
	"CONFIG_64BIT=y",
	"CONFIG_ACPI=y",
	"CONFIG_BLK_DEV_INITRD=y",
	"CONFIG_BLK_DEV_NVME=y",
	"CONFIG_DEVTMPFS=y",
	"CONFIG_EXT4_FS=y",
	"CONFIG_PCI=y",
	"CONFIG_SERIAL_8250_CONSOLE=y",
	"CONFIG_SWAP=y",
	"CONFIG_TMPFS=y",
	"CONFIG_VIRTIO_BLK=y",
	"CONFIG_VIRTIO_CONSOLE=y",
	"CONFIG_VIRTIO_PCI=y",
	NULL,
};

void live_warn(struct live *live, const char *fmt, ...)
{
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	lab_strv_add(&live->warnings, text);
	if (live->job->warn)
		live->job->warn(live->job->ctx, text);
}

/* ---- prepare -------------------------------------------------------------------- */

/* The ways on come from the table, so that a new target shows up in the message. */
static int refuse_without_kvm(const char *why, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf ways = LAB_BUF_INIT;

	for (const struct target *const *t = target_list(); *t; t++) {
		if ((*t)->caps.local && !(*t)->caps.needs_kvm)
			lab_buf_addf(&ways, "--target %s, which needs no KVM, or ", (*t)->name);
	}
	lab_buf_adds(&ways, "--allow-emulated, which runs under TCG and marks every time");
	return lab_error_set(err, LAB_ERR_UNAVAILABLE, "target live needs KVM: %s; go on with %s",
			     why, ways.data);
}

static int decide_kvm(struct live *live, const struct kvm_result *probe, struct lab_error *err)
{
	live->kvm = probe->works && live->info->kvm;
	if (!live->kvm && !live->job->allow_emulated)
		return refuse_without_kvm("libvirt offers none (can its user open /dev/kvm?)", err);
	return 0;
}

/* Does every file under the volume take O_DIRECT? */
static bool takes_direct(const char *path)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);

	return fd >= 0;
}

static int prepare_volume(struct live *live, const struct vm_owner *owner, unsigned i,
			  struct lab_error *err)
{
	const struct target_volume *v = &live->job->volumes[i];
	struct domain_disk *disk = &live->disks[i];

	if (v->backing && ownership_check(owner, v->backing, false, err))
		return lab_error_wrap(err, "volume %s", v->serial);
	if ((!v->readonly && ownership_give(owner, v->path, err)) ||
	    ownership_check(owner, v->path, !v->readonly, err))
		return lab_error_wrap(err, "volume %s", v->serial);
	disk->volume = *v;
	disk->direct = takes_direct(v->path) && (!v->backing || takes_direct(v->backing));
	if (!disk->direct)
		live_warn(
			live,
			"volume %s: the file system of %s takes no O_DIRECT, so the guest's reads "
			"may be served from this host's page cache",
			v->serial, v->path);
	return 0;
}

/*
 * QEMU opens PATH.in for what it reads and PATH.out for what it writes: a FIFO that
 * nobody writes to, and our log under another name.
 */
static int prepare_console(struct live *live, const struct vm_owner *owner, struct lab_error *err)
{
	LAB_CLEANUP(free) char *log = lab_path_join(live->job->run_dir, LIVE_CONSOLE);
	LAB_CLEANUP(fd) int fd = -1;

	live->console_pipe = lab_path_join(live->job->run_dir, "console");
	live->console_in = lab_asprintf("%s.in", live->console_pipe);
	live->console_out = lab_asprintf("%s.out", live->console_pipe);
	unlink(live->console_in);
	unlink(live->console_out);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return lab_error_errno(err, errno, "%s", log);
	if (symlink(LIVE_CONSOLE, live->console_out))
		return lab_error_errno(err, errno, "%s", live->console_out);
	if (mkfifo(live->console_in, 0600))
		return lab_error_errno(err, errno, "%s", live->console_in);
	if (ownership_give(owner, log, err) || ownership_give(owner, live->console_in, err))
		return -1;
	return 0;
}

static int prepare_files(struct live *live, struct lab_error *err)
{
	const struct target_job *job = live->job;
	const struct vm_owner owner = {live->info->uid, live->info->gid, live->info->user};

	if (ownership_check_user(&owner, live->info->uri, err) ||
	    ownership_give(&owner, job->run_dir, err) ||
	    ownership_check(&owner, job->run_dir, true, err) ||
	    ownership_check(&owner, job->kernel, false, err) ||
	    ownership_check(&owner, job->initramfs, false, err))
		return -1;
	live->disks = LAB_NEW_ARRAY(struct domain_disk, (size_t)job->n_volumes + 1);
	for (unsigned i = 0; i < job->n_volumes; i++) {
		if (prepare_volume(live, &owner, i, err))
			return -1;
	}
	return prepare_console(live, &owner, err);
}

/*
 * libvirtd lifts QEMU's limit to all there is; in a container it may be refused, as we are
 * then. Under qemu:///session nobody may.
 */
static bool can_lock_memory(void)
{
	const struct rlimit all = {LIBVIRT_ALL_MEMORY, LIBVIRT_ALL_MEMORY};
	struct rlimit ours;
	bool can;

	if (getrlimit(RLIMIT_MEMLOCK, &ours))
		return false;
	can = ours.rlim_max == RLIM_INFINITY || setrlimit(RLIMIT_MEMLOCK, &all) == 0;
	(void)!setrlimit(RLIMIT_MEMLOCK, &ours);
	return can;
}

static bool decide_locked(struct live *live)
{
	if (!live->kvm)
		return false;
	if (live->info->system && can_lock_memory())
		return true;
	live_warn(live, "guest memory cannot be locked here: this host may swap it out");
	return false;
}

static int describe(struct live *live, struct lab_error *err)
{
	const struct target_job *job = live->job;
	LAB_CLEANUP(free) char *path = lab_path_join(job->run_dir, LIVE_DOMAIN);
	struct domain_desc *d = &live->desc;

	live->name = job->domain ? lab_strdup(job->domain)
				 : lab_asprintf("labctl-%.8s-%s", job->lab, job->run);
	live->cmdline = domain_cmdline(job->cmdline);
	*d = (struct domain_desc){
		.name = live->name,
		.uuid = job->uuid,
		.lab = job->lab,
		.run = job->run,
		.owner = getpid(),
		.owner_started = process_started(getpid()),
		.kvm = live->kvm,
		.emulator = live->info->emulator,
		.machine = live->info->machine,
		.cpu_model = job->cpu_model ? job->cpu_model : (live->kvm ? NULL : LIVE_CPU_TCG),
		.cpu_feature = live->kvm ? NULL : LIVE_FEATURE_TCG,
		.kernel = job->kernel,
		.initramfs = job->initramfs,
		.cmdline = live->cmdline,
		.memory = job->memory,
		.locked = decide_locked(live),
		.vcpus = job->vcpus,
		.disks = live->disks,
		.n_disks = job->n_volumes,
		.console = live->console_pipe,
		.dac_label = live->info->system,
		.uid = live->info->uid,
		.gid = live->info->gid,
	};
	if (domain_xml(d, &live->xml, err))
		return -1;
	return lab_write_file(path, live->xml, strlen(live->xml), 0644, err);
}

static void live_destroy(struct machine *machine)
{
	struct live *live = (struct live *)machine;

	if (!live)
		return;
	channel_free(live->channel);
	vm_free(live->vm);
	if (live->console_in) {
		unlink(live->console_in);
		unlink(live->console_out);
	}
	hypervisor_free(live->own_hv);
	lab_strv_release(&live->warnings);
	lab_strv_release(&live->command_line);
	json_decref(live->load_before);
	free(live->disks);
	free(live->name);
	free(live->cmdline);
	free(live->xml);
	free(live->console_pipe);
	free(live->console_in);
	free(live->console_out);
	free(live);
}

static int prepare_all(struct live *live, const struct kvm_result *probe, struct lab_error *err)
{
	const struct target_job *job = live->job;

	if (!probe->works && !job->allow_emulated)
		return refuse_without_kvm(probe->text, err);
	if (!job->hypervisor && hypervisor_open(job->connect, &live->own_hv, err))
		return -1;
	live->hv = job->hypervisor ? job->hypervisor : live->own_hv;
	if (hypervisor_info(live->hv, &live->info, err))
		return -1;
	if (!live->info->emulator)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "%s runs no QEMU", live->info->uri);
	if (decide_kvm(live, probe, err) || prepare_files(live, err) || describe(live, err))
		return -1;
	return 0;
}

static int live_prepare(const struct target_job *job, const struct kvm_result *probe,
			struct machine **ret, struct lab_error *err)
{
	struct live *live = LAB_NEW(struct live);

	live->machine.target = &target_live;
	live->job = job;
	if (prepare_all(live, probe, err)) {
		live_destroy(&live->machine);
		return -1;
	}
	*ret = &live->machine;
	return 0;
}

/* ---- start ---------------------------------------------------------------------- */

/* The process behind the channel, when it is a QEMU and not the daemon that made the socket. */
static int find_process(struct live *live, struct lab_error *err)
{
	uid_t socket_uid = 0, uid = 0;
	pid_t pid = channel_peer(live->channel, &socket_uid);

	if (!process_runs(pid, live->info->emulator) || process_user(pid, &uid))
		return 0;
	if (uid == 0)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "QEMU runs as root although libvirt named %s as its user; see "
				     "/etc/libvirt/qemu.conf",
				     live->info->user);
	live->pid = pid;
	vm_set_process(live->vm, pid);
	return 0;
}

static int live_start(struct machine *machine, struct lab_error *err)
{
	struct live *live = (struct live *)machine;
	LAB_CLEANUP(free) char *socket = NULL;

	if (live->vm)
		return lab_error_set(err, LAB_ERR_INVALID, "%s was started before", live->name);
	if (vm_create(live->hv, live->name, live->xml, &live->vm, err))
		return -1;
	if (vm_channel_path(live->vm, &socket, err) ||
	    channel_connect(socket, &live->channel, err) || find_process(live, err))
		return lab_error_wrap(err, "%s", live->name);
	live_note_start(live);
	return vm_resume(live->vm, err);
}

/* ---- events --------------------------------------------------------------------- */

static void set_stop(struct live *live, enum machine_stop stop, const char *text)
{
	live->stopped = true;
	live->stop = stop;
	snprintf(live->stop_text, sizeof(live->stop_text), "%s", text);
}

static void tell_stop(const struct live *live, struct machine_event *ret)
{
	ret->kind = MACHINE_STOPPED;
	ret->stop = live->stop;
	snprintf(ret->text, sizeof(ret->text), "%s", live->stop_text);
}

/* True when *ret was filled. */
static bool read_channel(struct live *live, struct machine_event *ret)
{
	struct lab_error garbage;

	if (!live->channel)
		return false;
	switch (channel_next(live->channel, &ret->frame, &garbage)) {
	case CHANNEL_FRAME:
		ret->kind = MACHINE_FRAME;
		return true;
	case CHANNEL_GARBAGE:
		ret->kind = MACHINE_GARBAGE;
		snprintf(ret->text, sizeof(ret->text), "%.290s", garbage.text);
		return true;
	case CHANNEL_CLOSED:
		channel_free(LAB_TAKE(live->channel));
		live->closed_since = lab_now_ms();
		return false;
	case CHANNEL_MORE:
		break;
	}
	return false;
}

/* One look at everything, without waiting. True when *ret was filled. */
static bool look(struct live *live, struct machine_event *ret)
{
	char text[200];
	enum machine_stop stop;
	/* Asked before the channel is drained: what the guest said before it ended is there. */
	bool ended = vm_ended(live->vm, &stop, text, sizeof(text));

	if (read_channel(live, ret))
		return true;
	if (!ended && live->closed_since && lab_now_ms() - live->closed_since > CLOSED_MS) {
		stop = MACHINE_LOST;
		snprintf(text, sizeof(text), "QEMU closed the channel and libvirt says nothing");
		ended = true;
	}
	if (!ended)
		return false;
	set_stop(live, stop, text);
	tell_stop(live, ret);
	return true;
}

static void wait_for_news(struct live *live, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = vm_wake_fd(live->vm), .events = POLLIN},
				{.fd = -1, .events = POLLIN}};

	if (live->channel) {
		fds[1].fd = channel_fd(live->channel);
		if (channel_wants_write(live->channel))
			fds[1].events |= POLLOUT;
	} else if (timeout_ms < 0 || timeout_ms > CLOSED_MS) {
		timeout_ms = CLOSED_MS;
	}
	if (poll(fds, 2, timeout_ms) > 0 && (fds[1].revents & POLLOUT))
		channel_flush(live->channel);
}

static int live_next_event(struct machine *machine, int timeout_ms, struct machine_event *ret,
			   struct lab_error *err)
{
	struct live *live = (struct live *)machine;
	uint64_t end = lab_now_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);

	if (!live->vm)
		return lab_error_set(err, LAB_ERR_INVALID, "%s was not started", live->name);
	if (live->stopped) {
		tell_stop(live, ret);
		return 0;
	}
	for (;;) {
		uint64_t now;

		if (look(live, ret))
			return 0;
		now = lab_now_ms();
		if (now >= end)
			return 0;
		wait_for_news(live, (int)(end - now));
	}
}

static int live_send(struct machine *machine, const json_t *msg, struct lab_error *err)
{
	struct live *live = (struct live *)machine;

	if (!live->channel)
		return lab_error_set(err, LAB_ERR_FAILED,
				     "%s: the guest's end of the channel is gone", live->name);
	return channel_send(live->channel, msg, err);
}

static bool live_emulated(const struct machine *machine)
{
	return !((const struct live *)machine)->kvm;
}

const struct target target_live = {
	.name = "live",
	.help = "virtual machine with KVM (or, where allowed, emulated), times in seconds",
	.caps =
		{
			.streams = true,
			.requests = true,
			.heartbeats = true,
			.time_unit = "s",
			.max_vcpus = MAX_VCPUS,
			.needs_kvm = true,
			.local = true,
			.required_config = required_config,
		},
	.prepare = live_prepare,
	.start = live_start,
	.send = live_send,
	.next_event = live_next_event,
	.collect = live_collect,
	.destroy = live_destroy,
	.emulated = live_emulated,
};
