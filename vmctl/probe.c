/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "common/strv.h"
#include "store/facts.h"
#include "vmctl/kvm.h"

#define FACT "kvm"

/*
 * A boot sector that proves more than that the first instruction runs: the firmware
 * found it with two processors up, and a timer interrupt has to arrive before it
 * says so. It leaves QEMU through isa-debug-exit: exit code 2 * 0x31 + 1.
 */
static const unsigned char sector[512] = {
	0xfa,				  /* cli */
	0x31,	      0xc0,		  /* xor %ax, %ax */
	0x8e,	      0xd8,		  /* mov %ax, %ds */
	0x8e,	      0xd0,		  /* mov %ax, %ss */
	0xbc,	      0x00,	    0x7c, /* mov $0x7c00, %sp */
	0xfb,				  /* sti */
	0xf4,				  /* hlt: until the next tick */
	0xb0,	      0x31,		  /* mov $0x31, %al */
	0xe6,	      0xf4,		  /* out %al, $0xf4 */
	0xf4,				  /* hlt */
	0xeb,	      0xfd,		  /* jmp to the hlt */
	[510] = 0x55, [511] = 0xaa,
};
enum { SECTOR_SAYS = 2 * 0x31 + 1, DISK_BYTES = 1 << 20 };

int qemu_build(const char *emulator, char **ret_build, struct lab_error *err)
{
	const char *argv[] = {emulator, "--version", NULL};
	const struct lab_proc proc = {.argv = argv, .timeout_ms = 10000};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	static const char words[] = "version ";
	const char *start;

	if (lab_proc_must(&proc, &result, err))
		return lab_error_wrap(err, "version of QEMU");
	start = result.out.data ? strstr(result.out.data, words) : NULL;
	if (!start)
		return lab_error_set(err, LAB_ERR_INVALID, "%s --version says no version",
				     emulator);
	start += strlen(words);
	*ret_build = lab_strndup(start, strcspn(start, "\n"));
	return 0;
}

/* A file without a name, so that nothing is left behind. */
static int make_sector(char *path, size_t size, struct lab_error *err)
{
	int fd = memfd_create("labctl-probe", MFD_CLOEXEC);

	if (fd < 0)
		return lab_error_errno(err, errno, "memory file for the probe");
	if (lab_write_all(fd, sector, sizeof(sector), err)) {
		close(fd);
		return -1;
	}
	/* The firmware reads by cylinders and needs at least one. */
	if (ftruncate(fd, DISK_BYTES)) {
		lab_error_errno(err, errno, "memory file for the probe");
		close(fd);
		return -1;
	}
	snprintf(path, size, "driver=raw,file.driver=file,file.filename=/proc/%d/fd/%d", getpid(),
		 fd);
	return fd;
}

int kvm_boot(const char *emulator, const char *accel, unsigned timeout_ms,
	     struct lab_proc_result *result, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = -1;
	char path[160], drive[200];
	const char *argv[] = {emulator,
			      "-nodefaults",
			      "-no-user-config",
			      "-display",
			      "none",
			      "-machine",
			      "q35",
			      "-accel",
			      accel,
			      "-cpu",
			      !strcmp(accel, "kvm") ? "host" : "max",
			      "-smp",
			      "2",
			      "-m",
			      "32",
			      "-drive",
			      drive,
			      "-device",
			      "virtio-blk-pci,drive=d",
			      "-device",
			      "isa-debug-exit,iobase=0xf4,iosize=1",
			      NULL};
	const struct lab_proc proc = {.argv = argv, .timeout_ms = timeout_ms};

	fd = make_sector(path, sizeof(path), err);
	if (fd < 0)
		return -1;
	snprintf(drive, sizeof(drive), "if=none,id=d,readonly=on,%s", path);
	return lab_proc_run(&proc, result, err);
}

/* QEMU's reason: the last line it wrote that reads like one, without its own name. */
static char *reason_of(const struct lab_proc_result *result)
{
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	const char *line, *colon;

	lab_strv_split(&lines, result->err.data ? result->err.data : "", "\r\n");
	if (!lines.n)
		return result->signal ? lab_asprintf("ended by signal %d", result->signal)
				      : lab_asprintf("exit code %d", result->exit_code);
	line = lines.items[0];
	for (size_t i = 0; i < lines.n; i++) {
		if (strstr(lines.items[i], "error:") || strstr(lines.items[i], "failed"))
			line = lines.items[i];
	}
	colon = strstr(line, ": ");
	if (colon && lab_starts_with(lab_path_base(line), "qemu"))
		line = colon + 2;
	if (lab_starts_with(line, "error: "))
		line += strlen("error: ");
	return lab_strndup(line, 200);
}

void kvm_judge(const struct lab_proc_result *result, unsigned timeout_ms, struct kvm_result *ret)
{
	LAB_CLEANUP(free) char *reason = NULL;

	*ret = (struct kvm_result){0};
	if (!result->signal && result->exit_code == SECTOR_SAYS) {
		ret->works = true;
		snprintf(ret->text, sizeof(ret->text), "a guest runs on /dev/kvm");
		return;
	}
	if (result->timed_out) {
		snprintf(ret->text, sizeof(ret->text),
			 "/dev/kvm opens but a guest hangs on it (nothing booted in %u s)",
			 timeout_ms / 1000);
	} else {
		reason = reason_of(result);
		snprintf(ret->text, sizeof(ret->text),
			 "/dev/kvm opens but no guest runs on it (QEMU: %s)", reason);
	}
	snprintf(ret->cure, sizeof(ret->cure),
		 "if this host is a virtual machine, its own host has to offer nested "
		 "virtualisation");
}

bool kvm_device(const char *device, struct kvm_result *ret)
{
	LAB_CLEANUP(fd) int fd = open(device, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return true;
	*ret = (struct kvm_result){0};
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV) {
		snprintf(ret->text, sizeof(ret->text), "no %s", device);
		snprintf(
			ret->cure, sizeof(ret->cure),
			"modprobe kvm_intel or kvm_amd; virtualisation may be off in the firmware, "
			"or, in a virtual machine, not offered by its host");
	} else if (errno == EACCES || errno == EPERM) {
		snprintf(ret->text, sizeof(ret->text), "%s is not for this user", device);
		snprintf(ret->cure, sizeof(ret->cure),
			 "usermod -a -G kvm USER as root, then log in again");
	} else {
		snprintf(ret->text, sizeof(ret->text), "%s does not open: %s", device,
			 strerror(errno));
	}
	return false;
}

/* ---- the answer that is kept ------------------------------------------------- */

/* True for this boot of the host, this QEMU, and as long as the module stays loaded. */
static int scope_of(const char *build, char **ret, struct lab_error *err)
{
	LAB_CLEANUP(free) char *boot = NULL;
	struct stat st = {0};

	if (host_boot_id(&boot, err))
		return -1;
	if (stat(KVM_DEVICE, &st))
		return lab_error_errno(err, errno, KVM_DEVICE);
	*ret = lab_asprintf("%s/%s/%lld.%09ld", boot, build, (long long)st.st_ctim.tv_sec,
			    st.st_ctim.tv_nsec);
	return 0;
}

static bool from_json(const char *text, struct kvm_result *ret)
{
	json_t *root = json_loads(text, 0, NULL);
	const char *words = NULL, *cure = NULL;
	int works = 0;
	bool good = !json_unpack(root, "{s:b, s:s, s:s}", "works", &works, "text", &words, "cure",
				 &cure);

	if (good) {
		*ret = (struct kvm_result){.works = works, .cached = true};
		snprintf(ret->text, sizeof(ret->text), "%s", words);
		snprintf(ret->cure, sizeof(ret->cure), "%s", cure);
	}
	json_decref(root);
	return good;
}

/* A lab that cannot be written only means that the next one asks again. */
static void keep(struct lab *lab, const char *scope, const struct kvm_result *result)
{
	json_t *root = json_pack("{s:b, s:s, s:s}", "works", result->works, "text", result->text,
				 "cure", result->cure);
	LAB_CLEANUP(free) char *text = json_dumps(root, JSON_COMPACT);
	struct lab_error ignored;

	json_decref(root);
	if (text && fact_put(lab, FACT, scope, text, &ignored))
		return;
}

static int ask(const char *emulator, struct kvm_result *ret, struct lab_error *err)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};

	if (kvm_boot(emulator, "kvm", KVM_DEADLINE_MS, &result, err))
		return -1;
	kvm_judge(&result, KVM_DEADLINE_MS, ret);
	return 0;
}

int kvm_probe(struct lab *lab, const char *emulator, struct kvm_result *ret, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = NULL;
	LAB_CLEANUP(free) char *build = NULL;
	LAB_CLEANUP(free) char *scope = NULL;
	LAB_CLEANUP(free) char *known = NULL;
	struct kvm_result result;

	path = lab_proc_which(emulator ? emulator : "qemu-system-x86_64");
	if (!path)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "no qemu-system-x86_64; apt-get install qemu-system-x86");
	if (!kvm_device(KVM_DEVICE, ret))
		return 0;
	if (!lab)
		return ask(path, ret, err);
	if (qemu_build(path, &build, err) || scope_of(build, &scope, err) ||
	    fact_get(lab, FACT, scope, &known, err))
		return -1;
	if (known && from_json(known, ret))
		return 0;
	if (ask(path, &result, err))
		return -1;
	keep(lab, scope, &result);
	*ret = result;
	return 0;
}
