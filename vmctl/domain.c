/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/domain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <libxml/xmlwriter.h>

#include "common/buf.h"
#include "common/mem.h"
#include "vmctl/hypervisor.h"

#define QEMU_XMLNS "http://libvirt.org/schemas/domain/qemu/1.0"

/*
 * PCI slots of the root bus. Devices sit on it directly: a root port for each would
 * only cost the guest bridges to enumerate. 0, 1f belong to q35; 1 stays free.
 */
enum { SLOT_SERIAL = 2, SLOT_DISK = 3, SLOT_LAST = 0x1e, MAX_DISKS = SLOT_LAST - SLOT_DISK + 1 };

/* ---- a writer that remembers that something failed ---------------------------- */

struct xml {
	xmlTextWriterPtr w;
	bool failed;
};

static void open_tag(struct xml *x, const char *name)
{
	x->failed |= xmlTextWriterStartElement(x->w, BAD_CAST name) < 0;
}

static void close_tag(struct xml *x)
{
	x->failed |= xmlTextWriterEndElement(x->w) < 0;
}

static void attr(struct xml *x, const char *name, const char *value)
{
	x->failed |= xmlTextWriterWriteAttribute(x->w, BAD_CAST name, BAD_CAST value) < 0;
}

static void LAB_PRINTF(3, 4) attrf(struct xml *x, const char *name, const char *fmt, ...)
{
	char value[100];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	attr(x, name, value);
}

static void text_tag(struct xml *x, const char *name, const char *value)
{
	x->failed |= xmlTextWriterWriteElement(x->w, BAD_CAST name, BAD_CAST value) < 0;
}

/* An element with attributes only: name, value, ..., NULL. */
static void empty_tag(struct xml *x, const char *name, ...)
{
	const char *key;
	va_list ap;

	open_tag(x, name);
	va_start(ap, name);
	while ((key = va_arg(ap, const char *)) != NULL)
		attr(x, key, va_arg(ap, const char *));
	va_end(ap);
	close_tag(x);
}

/* ---- parts of the domain -------------------------------------------------------- */

static void write_metadata(struct xml *x, const struct domain_desc *d)
{
	open_tag(x, "metadata");
	open_tag(x, "labctl:run");
	attr(x, "xmlns:labctl", LABCTL_XMLNS);
	attr(x, "lab", d->lab);
	attr(x, "name", d->run);
	attrf(x, "owner", "%d", (int)d->owner);
	attrf(x, "started", "%llu", (unsigned long long)d->owner_started);
	close_tag(x);
	close_tag(x);
}

static void kib(struct xml *x, uint64_t bytes)
{
	attr(x, "unit", "KiB");
	x->failed |= xmlTextWriterWriteFormatString(x->w, "%llu",
						    (unsigned long long)(bytes / 1024)) < 0;
}

/* libvirt counts what lies on NVDIMMs as memory of the machine. */
static uint64_t whole_memory(const struct domain_desc *d)
{
	uint64_t bytes = d->memory;

	for (unsigned i = 0; i < d->n_disks; i++) {
		if (d->disks[i].volume.bus == VOLUME_NVDIMM)
			bytes += d->disks[i].volume.bytes;
	}
	return bytes;
}

/*
 * With KVM nothing of the guest may move while it is measured: all memory is there
 * before it starts, is not merged with other guests', and is not swapped out where the
 * host lets us lock it. Under TCG that would only cost time.
 */
static void write_memory(struct xml *x, const struct domain_desc *d)
{
	if (d->exact) {
		open_tag(x, "maxMemory");
		attrf(x, "slots", "%u", d->n_disks);
		kib(x, whole_memory(d) + (1ull << 30)); /* room to align what is plugged in */
		close_tag(x);
	}
	open_tag(x, "memory");
	kib(x, whole_memory(d));
	close_tag(x);
	if (!d->kvm)
		return;
	open_tag(x, "memoryBacking");
	empty_tag(x, "nosharepages", NULL);
	if (d->locked)
		empty_tag(x, "locked", NULL);
	empty_tag(x, "allocation", "mode", "immediate", NULL);
	close_tag(x);
}

static void write_boot(struct xml *x, const struct domain_desc *d)
{
	open_tag(x, "os");
	open_tag(x, "type");
	attr(x, "arch", "x86_64");
	attr(x, "machine", d->machine);
	x->failed |= xmlTextWriterWriteString(x->w, BAD_CAST "hvm") < 0;
	close_tag(x);
	text_tag(x, "kernel", d->kernel);
	text_tag(x, "initrd", d->initramfs);
	text_tag(x, "cmdline", d->cmdline);
	close_tag(x);
}

/* Memory can be plugged in only where it has a node to go to. */
static void write_numa(struct xml *x, const struct domain_desc *d)
{
	open_tag(x, "numa");
	open_tag(x, "cell");
	attr(x, "id", "0");
	attr(x, "cpus", "0");
	attrf(x, "memory", "%llu", (unsigned long long)(d->memory / 1024));
	attr(x, "unit", "KiB");
	close_tag(x);
	close_tag(x);
}

/* On the exact target the day is always the same, and goes on with the guest's own time. */
static void write_clock(struct xml *x, const struct domain_desc *d)
{
	if (!d->exact) {
		empty_tag(x, "clock", "offset", "utc", NULL);
		return;
	}
	open_tag(x, "clock");
	attr(x, "offset", "absolute");
	attr(x, "start", DOMAIN_EXACT_EPOCH);
	empty_tag(x, "timer", "name", "rtc", "track", "guest", NULL);
	close_tag(x);
}

static void write_cpu(struct xml *x, const struct domain_desc *d)
{
	open_tag(x, "features");
	empty_tag(x, "acpi", NULL);
	empty_tag(x, "apic", NULL);
	close_tag(x);
	open_tag(x, "cpu");
	if (d->cpu_model) {
		attr(x, "mode", "custom");
		attr(x, "match", "exact");
		attr(x, "check", "none");
		open_tag(x, "model");
		attr(x, "fallback", "forbid");
		x->failed |= xmlTextWriterWriteString(x->w, BAD_CAST d->cpu_model) < 0;
		close_tag(x);
		if (d->cpu_feature)
			empty_tag(x, "feature", "policy", "require", "name", d->cpu_feature, NULL);
		if (d->exact)
			write_numa(x, d);
	} else {
		attr(x, "mode", "host-passthrough");
		attr(x, "check", "none");
		attr(x, "migratable", "off");
	}
	close_tag(x);
	write_clock(x, d);
}

static void write_pci_address(struct xml *x, unsigned slot)
{
	open_tag(x, "address");
	attr(x, "type", "pci");
	attr(x, "domain", "0x0000");
	attr(x, "bus", "0x00");
	attrf(x, "slot", "0x%02x", slot);
	attr(x, "function", "0x0");
	close_tag(x);
}

static void write_backing(struct xml *x, const struct target_volume *v)
{
	if (!v->backing) {
		empty_tag(x, "backingStore", NULL);
		return;
	}
	open_tag(x, "backingStore");
	attr(x, "type", "file");
	empty_tag(x, "format", "type", "raw", NULL);
	empty_tag(x, "source", "file", v->backing, NULL);
	empty_tag(x, "backingStore", NULL);
	close_tag(x);
}

/*
 * Every disk is a libvirt disk, so that its driver opens, labels and locks the file;
 * for those that are to be NVMe the device in front of it is exchanged, because this
 * libvirt knows no NVMe bus. QEMU's NVMe has no stop on error: the guest sees it.
 */
static void write_disk(struct xml *x, const struct domain_disk *disk, unsigned i)
{
	const struct target_volume *v = &disk->volume;

	open_tag(x, "disk");
	attr(x, "type", "file");
	attr(x, "device", "disk");
	open_tag(x, "driver");
	attr(x, "name", "qemu");
	attr(x, "type", v->format == VOLUME_QCOW2 ? "qcow2" : "raw");
	attr(x, "cache", disk->direct ? "none" : "writeback");
	attr(x, "io", disk->direct ? "native" : "threads");
	if (v->bus == VOLUME_VIRTIO) {
		attr(x, "error_policy", "stop");
		attr(x, "rerror_policy", "stop");
	}
	close_tag(x);
	empty_tag(x, "source", "file", v->path, NULL);
	write_backing(x, v);
	open_tag(x, "target");
	attrf(x, "dev", "vd%c", 'a' + i);
	attr(x, "bus", "virtio");
	close_tag(x);
	text_tag(x, "serial", v->serial);
	if (v->readonly)
		empty_tag(x, "readonly", NULL);
	open_tag(x, "alias");
	attrf(x, "name", "ua-%s", v->serial);
	close_tag(x);
	write_pci_address(x, SLOT_DISK + i);
	close_tag(x);
}

/*
 * A file that the guest sees as its own memory: reads and writes are instructions and take
 * no time of this host's. The file must be there for others when the guest is gone.
 */
static void write_nvdimm(struct xml *x, const struct target_volume *v)
{
	open_tag(x, "memory");
	attr(x, "model", "nvdimm");
	attr(x, "access", "shared");
	open_tag(x, "source");
	text_tag(x, "path", v->path);
	/* Or libvirt has all of the file written before the start, which takes seconds. */
	empty_tag(x, "pmem", NULL);
	close_tag(x);
	open_tag(x, "target");
	open_tag(x, "size");
	kib(x, v->bytes);
	close_tag(x);
	text_tag(x, "node", "0");
	close_tag(x);
	close_tag(x);
}

static void write_disks(struct xml *x, const struct domain_desc *d)
{
	for (unsigned i = 0; i < d->n_disks; i++) {
		if (d->disks[i].volume.bus == VOLUME_NVDIMM)
			write_nvdimm(x, &d->disks[i].volume);
		else
			write_disk(x, &d->disks[i], i);
	}
}

static void write_channel(struct xml *x)
{
	open_tag(x, "channel");
	attr(x, "type", "unix");
	empty_tag(x, "target", "type", "virtio", "name", DOMAIN_CHANNEL, NULL);
	close_tag(x);
}

static void write_devices(struct xml *x, const struct domain_desc *d)
{
	open_tag(x, "devices");
	text_tag(x, "emulator", d->emulator);
	empty_tag(x, "controller", "type", "usb", "model", "none", NULL);
	if (!d->exact) {
		open_tag(x, "controller");
		attr(x, "type", "virtio-serial");
		attr(x, "index", "0");
		write_pci_address(x, SLOT_SERIAL);
		close_tag(x);
	}
	write_disks(x, d);
	/*
	 * A pipe, because then QEMU itself writes the file: a console of type 'file' goes
	 * through virtlogd, which throws its beginning away after some MiB.
	 */
	open_tag(x, "serial");
	attr(x, "type", "pipe");
	empty_tag(x, "source", "path", d->console, NULL);
	empty_tag(x, "target", "port", "0", NULL);
	close_tag(x);
	if (!d->exact)
		write_channel(x);
	empty_tag(x, "memballoon", "model", "none", NULL);
	empty_tag(x, "panic", "model", "isa", NULL);
	close_tag(x);
}

/* The front end of a disk, exchanged. */
static void write_nvme(struct xml *x, const struct target_volume *v)
{
	open_tag(x, "qemu:device");
	attrf(x, "alias", "ua-%s", v->serial);
	open_tag(x, "qemu:frontend");
	empty_tag(x, "qemu:property", "name", "driver", "type", "string", "value", "nvme", NULL);
	close_tag(x);
	close_tag(x);
}

/* QEMU splits such an option at its commas; those of a path are doubled. */
static char *double_commas(const char *path)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	for (; *path; path++)
		lab_buf_add(&out, *path == ',' ? ",," : path, *path == ',' ? 2 : 1);
	return lab_buf_take(&out);
}

static void write_plugin(struct xml *x, const struct domain_exact *exact)
{
	LAB_CLEANUP(free) char *plugin = double_commas(exact->plugin);
	LAB_CLEANUP(free) char *out = double_commas(exact->plugin_out);
	LAB_CLEANUP(free) char *value = lab_asprintf("file=%s,out=%s", plugin, out);

	empty_tag(x, "qemu:arg", "value", "-plugin", NULL);
	empty_tag(x, "qemu:arg", "value", value, NULL);
}

/*
 * One instruction, one nanosecond, and idle time is skipped; what the machine draws at
 * random (rdrand, the seed in the boot parameters) comes from the run's seed. Nobody wants
 * the recording: while it records, QEMU's main thread, which skips the idle time, and its
 * vCPU wait for each other. Without, it may look at the clock when the guest has halted and
 * its last instructions are not counted yet.
 */
static void write_icount(struct xml *x, const struct domain_exact *exact)
{
	char seed[16], smbios[64];

	snprintf(seed, sizeof(seed), "%u", exact->seed);
	snprintf(smbios, sizeof(smbios), "type=1,uuid=%s", exact->uuid);
	open_tag(x, "qemu:commandline");
	empty_tag(x, "qemu:arg", "value", "-icount", NULL);
	empty_tag(x, "qemu:arg", "value", "shift=0,sleep=off,rr=record,rrfile=/dev/null", NULL);
	empty_tag(x, "qemu:arg", "value", "-seed", NULL);
	empty_tag(x, "qemu:arg", "value", seed, NULL);
	empty_tag(x, "qemu:arg", "value", "-smbios", NULL);
	empty_tag(x, "qemu:arg", "value", smbios, NULL);
	if (exact->plugin)
		write_plugin(x, exact);
	close_tag(x);
}

static void write_qemu(struct xml *x, const struct domain_desc *d)
{
	unsigned n = 0;

	if (d->exact)
		write_icount(x, d->exact);

	for (unsigned i = 0; i < d->n_disks; i++)
		n += d->disks[i].volume.bus == VOLUME_NVME;
	if (n) {
		open_tag(x, "qemu:override");
		for (unsigned i = 0; i < d->n_disks; i++) {
			if (d->disks[i].volume.bus == VOLUME_NVME)
				write_nvme(x, &d->disks[i].volume);
		}
		close_tag(x);
	}
	/*
	 * With this capability libvirt asks for each CPU feature in a request of its own,
	 * 400 of them, which is more than half of what a start takes. Without it one
	 * request gets them all; the guest's CPU is the same.
	 */
	open_tag(x, "qemu:capabilities");
	empty_tag(x, "qemu:del", "capability", "cpu-unavailable-features", NULL);
	close_tag(x);
}

static void write_domain(struct xml *x, const struct domain_desc *d)
{
	char number[32];

	open_tag(x, "domain");
	attr(x, "type", d->kvm ? "kvm" : "qemu");
	attr(x, "xmlns:qemu", QEMU_XMLNS);
	text_tag(x, "name", d->name);
	if (d->uuid)
		text_tag(x, "uuid", d->uuid);
	write_metadata(x, d);
	write_memory(x, d);
	open_tag(x, "vcpu");
	attr(x, "placement", "static");
	snprintf(number, sizeof(number), "%u", d->vcpus);
	x->failed |= xmlTextWriterWriteString(x->w, BAD_CAST number) < 0;
	close_tag(x);
	write_boot(x, d);
	write_cpu(x, d);
	text_tag(x, "on_poweroff", "destroy");
	text_tag(x, "on_reboot", "destroy");
	text_tag(x, "on_crash", "destroy");
	write_devices(x, d);
	if (d->dac_label) {
		open_tag(x, "seclabel");
		attr(x, "type", "static");
		attr(x, "model", "dac");
		attr(x, "relabel", "no");
		snprintf(number, sizeof(number), "+%u:+%u", d->uid, d->gid);
		text_tag(x, "label", number);
		close_tag(x);
	}
	write_qemu(x, d);
	close_tag(x);
}

/* ---- checks --------------------------------------------------------------------- */

static bool is_serial(const char *s)
{
	size_t len = s ? strlen(s) : 0;

	return len >= 1 && len <= 20 &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == len;
}

static int check(const struct domain_desc *d, struct lab_error *err)
{
	if (d->n_disks > MAX_DISKS)
		return lab_error_set(err, LAB_ERR_INVALID, "machine: %u disks are too many, %d fit",
				     d->n_disks, MAX_DISKS);
	if (!d->vcpus || !d->memory || d->memory % (1024 * 1024))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "machine: at least one vCPU and whole MiB of memory");
	if (!d->kvm && !d->cpu_model)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "machine: without KVM the CPU model must be named");
	if (d->exact && (d->vcpus != 1 || d->kvm))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "machine: exact is one vCPU, without KVM");
	for (unsigned i = 0; i < d->n_disks; i++) {
		const char *serial = d->disks[i].volume.serial;

		if (d->disks[i].volume.bus == VOLUME_NVDIMM &&
		    (!d->exact || !d->disks[i].volume.bytes ||
		     d->disks[i].volume.bytes % TARGET_NVDIMM_UNIT))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "volume '%s': an NVDIMM is for exact machines and "
					     "has whole units of 2 MiB",
					     serial ? serial : "");

		if (!is_serial(serial))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "volume '%s': a serial is 1 to 20 letters, digits "
					     "or '-'",
					     serial ? serial : "");
		for (unsigned k = 0; k < i; k++) {
			if (!strcmp(serial, d->disks[k].volume.serial))
				return lab_error_set(err, LAB_ERR_INVALID,
						     "two volumes have the serial '%s'", serial);
		}
	}
	return 0;
}

int domain_xml(const struct domain_desc *desc, char **ret_text, struct lab_error *err)
{
	xmlBufferPtr buffer;
	struct xml x = {0};

	if (check(desc, err))
		return -1;
	buffer = xmlBufferCreate();
	x.w = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	if (x.w) {
		x.failed |= xmlTextWriterSetIndent(x.w, 1) < 0;
		x.failed |= xmlTextWriterSetIndentString(x.w, BAD_CAST "  ") < 0;
		write_domain(&x, desc);
		x.failed |= xmlTextWriterEndDocument(x.w) < 0;
		xmlFreeTextWriter(x.w);
	}
	if (!x.w || x.failed) {
		xmlBufferFree(buffer);
		return lab_error_set(err, LAB_ERR_FAILED, "domain %s: XML could not be written",
				     desc->name);
	}
	*ret_text = lab_strdup((const char *)xmlBufferContent(buffer));
	xmlBufferFree(buffer);
	return 0;
}

/*
 * console: where the kernel's last words go; panic=-1: a panic ends the machine at once;
 * loglevel=5: the console costs time, so it carries warnings and worse (an oops or a
 * panic raises it to everything by itself) and the rest stays in the guest's log;
 * psi, delayacct: both are off by default in some configurations and count nothing for
 * tasks that started before they were switched on;
 * random.trust_cpu=on: without it (and rdrand) the first reader of /dev/urandom in a young
 * guest spins for seconds gathering entropy, inside the measured step;
 * no_timer_check: the kernel panics ("IO-APIC + timer doesn't work!") when a loaded host
 * delays the guest's first timer interrupts.
 */
char *domain_cmdline(const char *target, const char *variant)
{
	const char *const more[] = {target, variant};
	struct lab_buf line = LAB_BUF_INIT;

	lab_buf_adds(&line, "console=ttyS0 loglevel=5 panic=-1 psi=1 delayacct"
			    " random.trust_cpu=on no_timer_check");
	for (size_t i = 0; i < LAB_COUNT(more); i++) {
		if (more[i] && *more[i])
			lab_buf_addf(&line, " %s", more[i]);
	}
	return lab_buf_take(&line);
}
