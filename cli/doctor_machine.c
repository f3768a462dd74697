/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "common/strv.h"
#include "images/image.h"
#include "vmctl/hypervisor.h"

#define QEMU "qemu-system-x86_64"

void doctor_qemu(struct doctor *d, struct doctor_line *line)
{
	LAB_CLEANUP(free) char *path = lab_proc_which(QEMU);
	LAB_CLEANUP(free) char *build = NULL;
	struct lab_error err = {0};

	(void)d;
	if (path && qemu_build(path, &build, &err) == 0) {
		doctor_say(line, DOCTOR_OK, "%s", build);
		return;
	}
	doctor_say(line, DOCTOR_FAIL, "%s", path ? err.text : "no " QEMU " in PATH");
	doctor_cure(line, "apt-get install qemu-system-x86");
}

void doctor_kvm(struct doctor *d, struct doctor_line *line)
{
	struct term_progress p = {.what = "KVM", .text = "booting something tiny"};
	struct kvm_result result;
	struct lab_error err = {0};

	if (!d->cli->common.json)
		term_progress(d->cli->term, &p);
	if (kvm_probe(d->cli->lab, NULL, &result, &err) < 0) {
		doctor_say(line, DOCTOR_FAIL, "%s", err.text);
		return;
	}
	d->kvm_works = result.works;
	/* Not a failure: emulation is a way on, and the target that needs KVM says so. */
	doctor_say(line, result.works ? DOCTOR_OK : DOCTOR_WARN, "%s", result.text);
	if (!result.works)
		doctor_cure(line,
			    "live runs need --allow-emulated here, target exact needs no KVM%s%s",
			    result.cure[0] ? "; " : "", result.cure);
}

void doctor_libvirt(struct doctor *d, struct doctor_line *line)
{
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = NULL;
	const struct hypervisor_info *info;
	struct lab_error err = {0};

	if (hypervisor_open(d->cli->common.connect, &hv, &err) < 0 ||
	    hypervisor_info(hv, &info, &err) < 0) {
		doctor_say(line, DOCTOR_FAIL, "%s", err.text);
		return;
	}
	if (info->system && info->uid == 0) {
		doctor_say(line, DOCTOR_FAIL, "%s runs QEMU as root", info->uri);
		doctor_cure(line, "set user and group to libvirt-qemu in /etc/libvirt/qemu.conf "
				  "and restart libvirtd");
		return;
	}
	doctor_say(line, DOCTOR_OK, "%lu.%lu.%lu (%s), QEMU runs as %s", info->libvirt / 1000000,
		   info->libvirt / 1000 % 1000, info->libvirt % 1000, info->uri, info->user);
}

/* True when a server accepts on this socket: the file alone proves nothing. */
static bool answers(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	LAB_CLEANUP(fd) int fd = -1;

	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

void doctor_virtlogd(struct doctor *d, struct doctor_line *line)
{
	const char *uri = d->cli->common.connect;
	LAB_CLEANUP(free) char *program = lab_proc_which("virtlogd");

	uri = uri ? uri : hypervisor_default_uri();
	if (!program) {
		doctor_say(line, DOCTOR_FAIL, "not installed");
		doctor_cure(line, "apt-get install libvirt-daemon");
	} else if (strcmp(uri, "qemu:///system") != 0) {
		doctor_say(line, DOCTOR_OK, "started by libvirt when %s needs it", uri);
	} else if (answers("/run/libvirt/virtlogd-sock") ||
		   answers("/var/run/libvirt/virtlogd-sock")) {
		doctor_say(line, DOCTOR_OK, "running");
	} else if (errno == EACCES) {
		doctor_say(line, DOCTOR_OK, "only root may ask it");
	} else {
		doctor_say(line, DOCTOR_FAIL, "not running, so no machine would start");
		doctor_cure(line, "%s",
			    lab_dir_exists("/run/systemd/system") ? "systemctl start virtlogd"
								  : "virtlogd -d");
	}
}

void doctor_agent(struct doctor *d, struct doctor_line *line)
{
	const char *path = d->cli->paths.agent;

	if (access(path, X_OK) == 0) {
		doctor_say(line, DOCTOR_OK, "%s", path);
		return;
	}
	doctor_say(line, DOCTOR_FAIL, "no %s", path);
	/* Only who builds from source needs static libraries. */
	doctor_cure(line, "run `make` or `make install`; it needs libc.a and libjansson.a: "
			  "apt-get install build-essential libjansson-dev");
}

void doctor_mmdebstrap(struct doctor *d, struct doctor_line *line)
{
	LAB_CLEANUP(image_host) struct image_host host = {0};

	(void)d;
	image_host_look(&host);
	if (!host.mmdebstrap) {
		doctor_say(line, DOCTOR_FAIL, "not installed, images cannot be made");
		doctor_cure(line, "apt-get install mmdebstrap");
	} else if (!host.mode) {
		doctor_say(line, DOCTOR_FAIL, "%s, but this user cannot make images with it",
			   host.mmdebstrap);
		doctor_cure(line, "%s", host.mode_cure ? host.mode_cure : "run it as root");
	} else {
		doctor_say(line, DOCTOR_OK, "%s, mode %s", host.mmdebstrap, host.mode);
	}
}

static void on_appliance(void *ctx, const char *phase, const char *text)
{
	struct doctor *d = ctx;
	struct term_progress p = {.what = "libguestfs", .text = text};

	(void)phase;
	if (!d->cli->common.json)
		term_progress(d->cli->term, &p);
}

static bool on_cancelled(void *ctx)
{
	(void)ctx;
	return cli_interrupted();
}

void doctor_libguestfs(struct doctor *d, struct doctor_line *line)
{
	LAB_CLEANUP(image_host) struct image_host host = {0};
	struct image_progress progress = {d, on_appliance, on_cancelled};
	struct lab_error err = {0};

	image_host_look(&host);
	if (!host.kernel) {
		doctor_say(line, DOCTOR_FAIL, "%s has no kernel for its appliance",
			   host.libguestfs);
		doctor_cure(line, "%s",
			    host.kernel_cure ? host.kernel_cure
					     : "apt-get install linux-image-cloud-amd64");
		return;
	}
	if (!d->deep) {
		doctor_say(line, DOCTOR_OK, "%s, appliance kernel %s", host.libguestfs,
			   host.kernel);
		return;
	}
	if (image_appliance_try(!d->kvm_works, &progress, &err) < 0)
		doctor_say(line, DOCTOR_FAIL, "%s", err.text);
	else
		doctor_say(line, DOCTOR_OK, "%s, its appliance ran with kernel %s", host.libguestfs,
			   host.kernel);
}
