/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Target live: a transient libvirt domain with an agent on a virtio-serial port. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "vmctl/channel.h"
#include "vmctl/local.h"

/* How long a channel may be closed before a machine that says nothing counts as lost. */
enum { CLOSED_MS = 3000, MAX_VCPUS = 64 };

struct live {
	struct local local;
	struct channel *channel; /* NULL once it said all */
	uint64_t closed_since;	 /* lab_now_ms() when it ended before the machine, or 0 */
};

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

static int decide_kvm(struct local *local, const struct kvm_result *probe, struct lab_error *err)
{
	local->kvm = probe->works && local->info->kvm;
	if (!local->kvm && !local->job->allow_emulated)
		return refuse_without_kvm("libvirt offers none (can its user open /dev/kvm?)", err);
	return 0;
}

static void live_destroy(struct machine *machine)
{
	struct live *live = (struct live *)machine;

	if (!live)
		return;
	channel_free(live->channel);
	local_release(&live->local);
	free(live);
}

static int prepare_all(struct live *live, const struct kvm_result *probe, struct lab_error *err)
{
	if (!probe->works && !live->local.job->allow_emulated)
		return refuse_without_kvm(probe->text, err);
	if (local_open(&live->local, err) || decide_kvm(&live->local, probe, err))
		return -1;
	return local_prepare(&live->local, err);
}

static int live_prepare(const struct target_job *job, const struct kvm_result *probe,
			struct machine **ret, struct lab_error *err)
{
	struct live *live = LAB_NEW(struct live);

	live->local.machine.target = &target_live;
	live->local.job = job;
	if (prepare_all(live, probe, err)) {
		live_destroy(&live->local.machine);
		return -1;
	}
	*ret = &live->local.machine;
	return 0;
}

/* ---- start ---------------------------------------------------------------------- */

static int live_start(struct machine *machine, struct lab_error *err)
{
	struct live *live = (struct live *)machine;
	struct local *local = &live->local;
	LAB_CLEANUP(free) char *socket = NULL;
	uid_t uid = 0;

	if (local_create(local, err))
		return -1;
	if (vm_channel_path(local->vm, &socket, err) ||
	    channel_connect(socket, &live->channel, err) ||
	    local_created(local, channel_peer(live->channel, &uid), err))
		return lab_error_wrap(err, "%s", local->name);
	return vm_resume(local->vm, err);
}

/* ---- events --------------------------------------------------------------------- */

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
	bool ended = vm_ended(live->local.vm, &stop, text, sizeof(text));

	if (read_channel(live, ret))
		return true;
	if (!ended && live->closed_since && lab_now_ms() - live->closed_since > CLOSED_MS) {
		stop = MACHINE_LOST;
		snprintf(text, sizeof(text), "QEMU closed the channel and libvirt says nothing");
		ended = true;
	}
	if (!ended)
		return false;
	local_set_stop(&live->local, stop, text);
	local_tell_stop(&live->local, ret);
	return true;
}

static void wait_for_news(struct live *live, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = vm_wake_fd(live->local.vm), .events = POLLIN},
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

	if (!live->local.vm)
		return lab_error_set(err, LAB_ERR_INVALID, "%s was not started", live->local.name);
	if (live->local.stopped) {
		local_tell_stop(&live->local, ret);
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
				     "%s: the guest's end of the channel is gone",
				     live->local.name);
	return channel_send(live->channel, msg, err);
}

static bool live_emulated(const struct machine *machine)
{
	return !((const struct live *)machine)->local.kvm;
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
	.collect = local_collect,
	.destroy = live_destroy,
	.emulated = live_emulated,
};
