/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "golden.h"
#include "vmctl/domain.h"

static const struct domain_disk disks[] = {
	{.volume = {.serial = "root",
		    .path = "/var/lib/labctl/runs/7/41.1/root.qcow2",
		    .format = VOLUME_QCOW2,
		    .backing = "/var/lib/labctl/artifacts/image/1f2e/root.img",
		    .bus = VOLUME_VIRTIO},
	 .direct = true},
	{.volume = {.serial = "data",
		    .path = "/var/lib/labctl/runs/7/41.1/data.img",
		    .bus = VOLUME_NVME},
	 .direct = true},
	{.volume = {.serial = "swap",
		    .path = "/var/lib/labctl/runs/7/41.1/swap.img",
		    .bus = VOLUME_NVME},
	 .direct = true},
};

static struct domain_desc base(bool kvm, unsigned vcpus, const char *cmdline)
{
	return (struct domain_desc){
		.name = "labctl-0123abcd-7.41",
		.lab = "0123abcd4567",
		.run = "7.41",
		.owner = 4711,
		.owner_started = 123456,
		.kvm = kvm,
		.emulator = "/usr/bin/qemu-system-x86_64",
		.machine = "pc-q35-7.2",
		.cpu_model = kvm ? NULL : "Nehalem",
		.cpu_feature = kvm ? NULL : "rdrand",
		.kernel = "/var/lib/labctl/artifacts/kernel/a1b2/bzImage",
		.initramfs = "/var/lib/labctl/artifacts/initramfs/c3d4/initramfs.cpio",
		.cmdline = cmdline,
		.memory = 1ull << 30,
		.locked = kvm,
		.vcpus = vcpus,
		.disks = disks,
		.n_disks = LAB_COUNT(disks),
		.console = "/var/lib/labctl/runs/7/41.1/console",
		.dac_label = true,
		.uid = 64055,
		.gid = 107,
	};
}

static void check(const char *name, const struct domain_desc *desc)
{
	LAB_CLEANUP(free) char *text = NULL;
	struct lab_error err = {0};

	if (domain_xml(desc, &text, &err))
		fail_msg("%s", err.text);
	golden_check(name, text, strlen(text));
}

static void test_live(void **state)
{
	LAB_CLEANUP(free) char *cmdline = domain_cmdline(NULL, NULL);
	struct domain_desc kvm1 = base(true, 1, cmdline), kvm2 = base(true, 2, cmdline);
	struct domain_desc tcg1 = base(false, 1, cmdline), tcg2 = base(false, 2, cmdline);

	(void)state;
	check("domain-live-kvm-1.xml", &kvm1);
	check("domain-live-kvm-2.xml", &kvm2);
	check("domain-live-tcg-1.xml", &tcg1);
	check("domain-live-tcg-2.xml", &tcg2);
}

/*
 * A distribution's kernel without a root image, under qemu:///session, on a file system
 * that takes no O_DIRECT, with a command line that needs escaping.
 */
static void test_cloud(void **state)
{
	LAB_CLEANUP(free) char *cmdline = domain_cmdline(NULL, "foo=\"<a> & 'b'\"");

	(void)state;
	for (unsigned vcpus = 1; vcpus <= 2; vcpus++) {
		struct domain_desc desc = base(false, vcpus, cmdline);
		struct domain_disk data = disks[1];
		char name[64];

		data.direct = false;
		data.volume.readonly = true;
		desc.uuid = "00000000-0000-4000-8000-000000000007";
		desc.kernel = "/boot/vmlinuz-6.1.0-13-cloud-amd64";
		desc.dac_label = false;
		desc.disks = &data;
		desc.n_disks = 1;
		snprintf(name, sizeof(name), "domain-cloud-tcg-%u.xml", vcpus);
		check(name, &desc);
	}
}

static const struct domain_exact exact = {.seed = 989621706,
					  .uuid = "017e908b-de28-4df6-89cd-484e2a255ebd"};

static struct domain_desc exact_desc(struct domain_disk nvdimms[static LAB_COUNT(disks)])
{
	struct domain_desc desc = base(false, 1, NULL);

	for (size_t i = 0; i < LAB_COUNT(disks); i++) {
		nvdimms[i] = disks[i];
		nvdimms[i].volume.bus = VOLUME_NVDIMM;
		nvdimms[i].volume.bytes = 64ull << 20;
	}
	desc.exact = &exact;
	desc.disks = nvdimms;
	return desc;
}

static void test_exact(void **state)
{
	LAB_CLEANUP(free)
	char *cmdline = domain_cmdline("labctl.channel=outbox:nfit-59341200", "a=b");
	struct domain_disk nvdimms[LAB_COUNT(disks)];
	struct domain_desc desc = exact_desc(nvdimms);

	(void)state;
	desc.cmdline = cmdline;
	check("domain-exact.xml", &desc);
}

/* Commas are QEMU's own on such an option. */
static void test_exact_profile(void **state)
{
	struct domain_exact with = exact;
	struct domain_disk nvdimms[LAB_COUNT(disks)];
	struct domain_desc desc = exact_desc(nvdimms);
	LAB_CLEANUP(free) char *xml = NULL;

	(void)state;
	with.plugin = "/runs/7,8/41.1/profile.so";
	with.plugin_out = "/runs/7,8/41.1/profile";
	desc.exact = &with;
	assert_int_equal(domain_xml(&desc, &xml, NULL), 0);
	assert_non_null(strstr(xml, "<qemu:arg value=\"-plugin\"/>"));
	assert_non_null(strstr(xml, "value=\"file=/runs/7,,8/41.1/profile.so,"
				    "out=/runs/7,,8/41.1/profile\""));
}

static void refused(const struct domain_desc *desc, const char *words)
{
	struct lab_error err = {0};
	char *text = NULL;

	assert_int_equal(domain_xml(desc, &text, &err), -1);
	assert_null(text);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in '%s'", words, err.text);
}

static void test_refused(void **state)
{
	struct domain_desc desc = base(false, 1, "");
	struct domain_disk two[] = {disks[1], disks[1]};

	(void)state;
	desc.cpu_model = NULL;
	refused(&desc, "CPU model");
	desc = base(true, 0, "");
	refused(&desc, "vCPU");
	desc = base(true, 1, "");
	desc.memory = 4096;
	refused(&desc, "MiB");
	desc = base(true, 1, "");
	desc.disks = two;
	desc.n_disks = 2;
	refused(&desc, "two volumes have the serial 'data'");
	desc.n_disks = 1;
	two[0].volume.serial = "with blank";
	refused(&desc, "'with blank'");
	two[0].volume.serial = "a-serial-of-21-letter";
	refused(&desc, "1 to 20");
	two[0].volume.serial = "";
	refused(&desc, "1 to 20");
	desc.n_disks = 29;
	refused(&desc, "29 disks");
}

static void test_exact_refused(void **state)
{
	struct domain_disk nvdimms[LAB_COUNT(disks)];
	struct domain_desc desc = exact_desc(nvdimms);

	(void)state;
	desc.cmdline = "";
	desc.vcpus = 2;
	refused(&desc, "one vCPU");
	desc.vcpus = 1;
	nvdimms[1].volume.bytes += 4096;
	refused(&desc, "volume 'data': an NVDIMM");
	nvdimms[1].volume.bytes = 64ull << 20;
	desc.exact = NULL;
	refused(&desc, "is for exact machines");
}

static void test_cmdline(void **state)
{
	LAB_CLEANUP(free) char *none = domain_cmdline("", "");
	LAB_CLEANUP(free) char *more = domain_cmdline(NULL, "slab_nomerge");

	(void)state;
	assert_non_null(strstr(none, "console=ttyS0"));
	assert_non_null(strstr(none, "panic=-1"));
	assert_non_null(strstr(none, "psi=1 delayacct"));
	assert_string_equal(more + strlen(none), " slab_nomerge");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),	cmocka_unit_test(test_cloud),
		cmocka_unit_test(test_exact),	cmocka_unit_test(test_exact_profile),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_exact_refused),
		cmocka_unit_test(test_cmdline),
	};

	return cmocka_run_group_tests_name("vmctl domain", tests, NULL, NULL);
}
