/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "vmctl/ownership.h"
#include "vmctl/process.h"

/* The limit that libvirt sets for "all", in bytes. */
#define LIBVIRT_ALL_MEMORY ((rlim_t)9007199254740991)

void local_warn(struct local *local, const char *fmt, ...)
{
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	lab_strv_add(&local->warnings, text);
	if (local->job->warn)
		local->job->warn(local->job->ctx, text);
}

/* ---- prepare -------------------------------------------------------------------- */

/* Does every file under the volume take O_DIRECT? */
static bool takes_direct(const char *path)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);

	return fd >= 0;
}

static int prepare_volume(struct local *local, const struct vm_owner *owner, unsigned i,
			  struct lab_error *err)
{
	const struct target_volume *v = &local->job->volumes[i];
	struct domain_disk *disk = &local->disks[i];

	if (v->backing && ownership_check(owner, v->backing, false, err))
		return lab_error_wrap(err, "volume %s", v->serial);
	if ((!v->readonly && ownership_give(owner, v->path, err)) ||
	    ownership_check(owner, v->path, !v->readonly, err))
		return lab_error_wrap(err, "volume %s", v->serial);
	disk->volume = *v;
	if (v->bus == VOLUME_NVDIMM)
		return 0;
	disk->direct = takes_direct(v->path) && (!v->backing || takes_direct(v->backing));
	if (!disk->direct)
		local_warn(
			local,
			"volume %s: the file system of %s takes no O_DIRECT, so the guest's reads "
			"may be served from this host's page cache",
			v->serial, v->path);
	return 0;
}

/*
 * QEMU opens PATH.in for what it reads and PATH.out for what it writes: a FIFO that
 * nobody writes to, and our log under another name.
 */
static int prepare_console(struct local *local, const struct vm_owner *owner, struct lab_error *err)
{
	LAB_CLEANUP(free) char *log = lab_path_join(local->job->run_dir, LOCAL_CONSOLE);
	LAB_CLEANUP(fd) int fd = -1;

	local->console_pipe = lab_path_join(local->job->run_dir, "console");
	local->console_in = lab_asprintf("%s.in", local->console_pipe);
	local->console_out = lab_asprintf("%s.out", local->console_pipe);
	unlink(local->console_in);
	unlink(local->console_out);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return lab_error_errno(err, errno, "%s", log);
	if (symlink(LOCAL_CONSOLE, local->console_out))
		return lab_error_errno(err, errno, "%s", local->console_out);
	if (mkfifo(local->console_in, 0600))
		return lab_error_errno(err, errno, "%s", local->console_in);
	if (ownership_give(owner, log, err) || ownership_give(owner, local->console_in, err))
		return -1;
	return 0;
}

/* Hands the machine's files to the user that QEMU runs as. */
static int prepare_files(struct local *local, struct lab_error *err)
{
	const struct target_job *job = local->job;
	const struct vm_owner owner = {local->info->uid, local->info->gid, local->info->user};

	if (ownership_check_user(&owner, local->info->uri, err) ||
	    ownership_give(&owner, job->run_dir, err) ||
	    ownership_check(&owner, job->run_dir, true, err) ||
	    ownership_check(&owner, job->kernel, false, err) ||
	    ownership_check(&owner, job->initramfs, false, err))
		return -1;
	local->disks = LAB_NEW_ARRAY(struct domain_disk, (size_t)job->n_volumes + 1);
	for (unsigned i = 0; i < job->n_volumes; i++) {
		if (prepare_volume(local, &owner, i, err))
			return -1;
	}
	return prepare_console(local, &owner, err);
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

static bool decide_locked(struct local *local)
{
	if (!local->kvm)
		return false;
	if (local->info->system && can_lock_memory())
		return true;
	local_warn(local, "guest memory cannot be locked here: this host may swap it out");
	return false;
}

static int describe(struct local *local, struct lab_error *err)
{
	const struct target_job *job = local->job;
	LAB_CLEANUP(free) char *path = lab_path_join(job->run_dir, LOCAL_DOMAIN);
	struct domain_desc *d = &local->desc;

	local->name = job->domain ? lab_strdup(job->domain)
				  : lab_asprintf("labctl-%.8s-%s", job->lab, job->run);
	local->cmdline = domain_cmdline(local->words, job->cmdline);
	*d = (struct domain_desc){
		.name = local->name,
		.uuid = job->uuid,
		.exact = d->exact,
		.lab = job->lab,
		.run = job->run,
		.owner = getpid(),
		.owner_started = process_started(getpid()),
		.kvm = local->kvm,
		.emulator = local->info->emulator,
		.machine = local->info->machine,
		.cpu_model = job->cpu_model ? job->cpu_model : (local->kvm ? NULL : LOCAL_CPU_TCG),
		.cpu_feature = local->kvm ? NULL : LOCAL_FEATURE_TCG,
		.kernel = job->kernel,
		.initramfs = job->initramfs,
		.cmdline = local->cmdline,
		.memory = job->memory,
		.locked = decide_locked(local),
		.vcpus = job->vcpus,
		.disks = local->disks,
		.n_disks = job->n_volumes,
		.console = local->console_pipe,
		.dac_label = local->info->system,
		.uid = local->info->uid,
		.gid = local->info->gid,
	};
	if (domain_xml(d, &local->xml, err))
		return -1;
	return lab_write_file(path, local->xml, strlen(local->xml), 0644, err);
}

int local_open(struct local *local, struct lab_error *err)
{
	const struct target_job *job = local->job;

	if (!job->hypervisor && hypervisor_open(job->connect, &local->own_hv, err))
		return -1;
	local->hv = job->hypervisor ? job->hypervisor : local->own_hv;
	if (hypervisor_info(local->hv, &local->info, err))
		return -1;
	if (!local->info->emulator)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "%s runs no QEMU", local->info->uri);
	return 0;
}

int local_prepare(struct local *local, struct lab_error *err)
{
	if (prepare_files(local, err) || describe(local, err))
		return -1;
	return 0;
}

void local_release(struct local *local)
{
	vm_free(local->vm);
	if (local->console_in) {
		unlink(local->console_in);
		unlink(local->console_out);
	}
	hypervisor_free(local->own_hv);
	lab_strv_release(&local->warnings);
	lab_strv_release(&local->command_line);
	json_decref(local->load_before);
	free(local->disks);
	free(local->name);
	free(local->cmdline);
	free(local->xml);
	free(local->console_pipe);
	free(local->console_in);
	free(local->console_out);
}

/* ---- start and end ---------------------------------------------------------------- */

int local_create(struct local *local, struct lab_error *err)
{
	if (local->vm)
		return lab_error_set(err, LAB_ERR_INVALID, "%s was started before", local->name);
	return vm_create(local->hv, local->name, local->xml, &local->vm, err);
}

int local_created(struct local *local, pid_t pid, struct lab_error *err)
{
	uid_t uid = 0;

	/* Not when it is the daemon that made the channel's socket. */
	if (process_runs(pid, local->info->emulator) && !process_user(pid, &uid)) {
		if (uid == 0)
			return lab_error_set(err, LAB_ERR_UNAVAILABLE,
					     "QEMU runs as root although libvirt named %s as its "
					     "user; see /etc/libvirt/qemu.conf",
					     local->info->user);
		local->pid = pid;
		vm_set_process(local->vm, pid);
	}
	local_note_start(local);
	return 0;
}

void local_set_stop(struct local *local, enum machine_stop stop, const char *text)
{
	local->stopped = true;
	local->stop = stop;
	snprintf(local->stop_text, sizeof(local->stop_text), "%s", text);
}

void local_tell_stop(const struct local *local, struct machine_event *ret)
{
	ret->kind = MACHINE_STOPPED;
	ret->stop = local->stop;
	snprintf(ret->text, sizeof(ret->text), "%s", local->stop_text);
}
