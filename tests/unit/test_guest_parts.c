/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's pure parts, and what it reads from a recorded sysroot. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "guest-agent/channel.h"
#include "guest-agent/disk.h"
#include "guest-agent/disks_setup.h"
#include "guest-agent/elfnote.h"
#include "guest-agent/hello.h"
#include "guest-agent/init.h"
#include "guest-agent/progress.h"
#include "guest-agent/settings.h"
#include "guest-agent/snapshot.h"
#include "protocol/message.h"

#define SYSROOT TESTS_DIR "/data/sysroot"
#define BUILD_ID "d4494193cf97e2ce5c6d6805c1591d0ced623fc1"

static void test_elfnote(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf notes = LAB_BUF_INIT;
	char hex[ELFNOTE_HEX] = "";

	(void)state;
	assert_int_equal(lab_read_file(SYSROOT "/sys/kernel/notes", 65536, &notes, NULL), 0);
	assert_true(elfnote_build_id(notes.data, notes.len, hex));
	assert_string_equal(hex, BUILD_ID);
	/* Behind other notes, and cut at every length. */
	lab_buf_consume(&notes, 36);
	assert_false(elfnote_build_id(notes.data, notes.len, hex));
	lab_buf_add(&notes, "\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xab\xcd", 18);
	assert_true(elfnote_build_id(notes.data, notes.len, hex));
	assert_string_equal(hex, "abcd");
	for (size_t len = 0; len < notes.len; len++) {
		LAB_CLEANUP(free) char *cut = lab_calloc(len + 1, 1);

		memcpy(cut, notes.data, len);
		assert_false(elfnote_build_id(cut, len, hex));
	}
	assert_false(elfnote_build_id("\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU", 16, hex));
}

static void test_hello(void **state)
{
	json_t *msg = hello_make(SYSROOT);
	struct message m;

	(void)state;
	assert_int_equal(message_read(msg, &m, NULL), 0);
	assert_int_equal(m.type, MESSAGE_HELLO);
	assert_int_equal(m.u.hello.protocol, MESSAGE_PROTOCOL);
	assert_string_equal(m.u.hello.kernel_build_id, BUILD_ID);
	assert_string_equal(m.u.hello.kernel_release, "6.1.192");
	assert_int_equal(strlen(m.u.hello.boot_id), 36);
	assert_int_equal(strncmp(m.u.hello.agent, LABCTL_VERSION "+", strlen(LABCTL_VERSION) + 1),
			 0);
	json_decref(msg);
	/* Nothing there: hello is still said. */
	msg = hello_make("/nonexistent");
	assert_int_equal(message_read(msg, &m, NULL), 0);
	assert_string_equal(m.u.hello.kernel_build_id, "");
	assert_string_equal(m.u.hello.boot_id, "unknown");
	json_decref(msg);
}

static void test_disks(void **state)
{
	struct job_disk disk = {(char *)"swap", 134217728};
	LAB_CLEANUP(free) char *vda = disk_by_serial(SYSROOT, "root");
	LAB_CLEANUP(free) char *nvme = disk_by_serial(SYSROOT, "data"); /* padded with blanks */
	LAB_CLEANUP(free) char *path = NULL;
	struct lab_error err = {0};

	(void)state;
	assert_string_equal(vda, "vda");
	assert_string_equal(nvme, "nvme1n1");
	assert_null(disk_by_serial(SYSROOT, "dat"));
	assert_null(disk_by_serial("/nonexistent", "root"));
	assert_int_equal(disk_find(SYSROOT, &disk, &path, &err), 0);
	assert_string_equal(path, "/dev/nvme0n1");
	disk.bytes++;
	assert_int_equal(disk_find(SYSROOT, &disk, &path, &err), -1);
	assert_string_equal(err.text, "disk 'swap' has 134217728 bytes where 134217729 were "
				      "announced");
	disk.serial = (char *)"other";
	assert_int_equal(disk_find(SYSROOT, &disk, &path, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_string_equal(path, "/dev/nvme0n1");
}

/* mkdir -p of DIR/PATH, then its file `name` with a line in it. */
static void put(const char *dir, const char *path, const char *name, const char *line)
{
	LAB_CLEANUP(free) char *full = lab_path_join(dir, path);
	LAB_CLEANUP(free) char *file = lab_path_join(full, name);

	assert_int_equal(lab_mkdirs(full, 0755, NULL), 0);
	assert_int_equal(lab_write_file(file, line, strlen(line), 0644, NULL), 0);
}

/* As the kernel shows two NVDIMMs whose names say nothing of their slots. */
static void test_nvdimms(void **state)
{
	char dir[] = "/tmp/labctl-nfit-XXXXXX";
	static const char regions[] = "sys/devices/ndbus0";
	LAB_CLEANUP(free) char *first = NULL;
	LAB_CLEANUP(free) char *second = NULL;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		LAB_CLEANUP(free) char *region = lab_asprintf("%s/region%d", regions, i);
		LAB_CLEANUP(free) char *namespace = lab_asprintf("%s/namespace%d.0", region, i);
		LAB_CLEANUP(free) char *block = lab_asprintf("sys/block/pmem%d", i);
		LAB_CLEANUP(free)
		char *nmem = lab_asprintf("sys/bus/nd/devices/nmem%d/nfit", 1 - i);
		LAB_CLEANUP(free) char *mapping = lab_asprintf("nmem%d,0,67108864,0\n", 1 - i);
		LAB_CLEANUP(free) char *link = lab_asprintf("%s/%s/device", dir, block);
		LAB_CLEANUP(free) char *to = lab_asprintf("%s/%s", dir, namespace);

		put(dir, namespace, "size", "67108864\n");
		put(dir, region, "mapping0", mapping);
		put(dir, nmem, "serial", i ? "0x56341200\n" : "0x57341200\n");
		put(dir, block, "size", "131072\n");
		assert_int_equal(symlink(to, link), 0);
	}
	first = disk_by_serial(dir, "nfit-56341200");
	second = disk_by_serial(dir, "nfit-57341200");
	assert_string_equal(first, "pmem1");
	assert_string_equal(second, "pmem0");
	assert_null(disk_by_serial(dir, "nfit-58341200"));
	assert_null(disk_by_serial(dir, "56341200"));
	assert_int_equal(lab_remove_tree(dir, NULL), 0);
}

static void test_channels(void **state)
{
	LAB_CLEANUP(free) char *port = channel_virtio_path(SYSROOT, MESSAGE_CHANNEL);
	struct channel channel;
	struct lab_error err = {0};

	(void)state;
	assert_string_equal(port, "/dev/vport0p1");
	assert_null(channel_virtio_path(SYSROOT, "org.qemu.guest_agent.0"));
	assert_int_equal(channel_open("carrier-pigeon:7", "", &channel, &err), -1);
	assert_non_null(strstr(err.text, "fd:N, unix:PATH, stdio, virtio:NAME"));
	assert_int_equal(channel_open("fd:x", "", &channel, &err), -1);
	assert_int_equal(channel_open("fd:1000", "", &channel, &err), -1);
	assert_int_equal(channel_open("unix:/nonexistent/socket", "", &channel, &err), -1);
	assert_int_equal(err.errnum, ENOENT);
}

static void test_setting_paths(void **state)
{
	static const struct {
		enum job_setting_kind kind;
		const char *key, *path;
	} rows[] = {
		{JOB_SYSCTL, "vm.swappiness", "/r/proc/sys/vm/swappiness"},
		{JOB_SYSCTL, "kernel/printk", "/r/proc/sys/kernel/printk"},
		{JOB_SYSCTL, "net.ipv4.conf.eth0/1.forwarding",
		 "/r/proc/sys/net/ipv4/conf/eth0.1/forwarding"},
		{JOB_SYSCTL, "net/ipv4/conf/eth0.1/forwarding",
		 "/r/proc/sys/net/ipv4/conf/eth0.1/forwarding"},
		{JOB_WRITE, "/sys/kernel/mm/lru_gen/enabled", "/r/sys/kernel/mm/lru_gen/enabled"},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(rows); i++) {
		struct job_setting setting = {rows[i].kind, (char *)rows[i].key, NULL};
		LAB_CLEANUP(free) char *path = setting_path("/r", &setting);

		assert_string_equal(path, rows[i].path);
	}
}

static void test_setting_errors(void **state)
{
	struct job_setting setting = {JOB_SYSCTL, (char *)"vm.nonsense", (char *)"1"};
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(setting_apply(SYSROOT, &setting, &err), -1);
	assert_string_equal(err.text, "vm.nonsense = 1: this kernel has no such setting");
	setting.key = (char *)"kernel.random"; /* a directory */
	assert_int_equal(setting_apply(SYSROOT, &setting, &err), -1);
	assert_string_equal(err.text, "kernel.random = 1: Is a directory");
}

static void test_snapshots(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(snapshot_take("cmdline", SYSROOT, &text, NULL), 0);
	assert_string_equal(text.data, "console=ttyS0 quiet panic=-1 psi=1 \n");
	lab_buf_release(&text);
	assert_int_equal(snapshot_take("sysctl", SYSROOT, &text, NULL), 0);
	assert_string_equal(text.data,
			    "kernel.osrelease = 6.1.192\n"
			    "kernel.printk = 4\t4\t1\t7\n"
			    "kernel.random.boot_id = 4f1181ea-caa3-41ad-a17d-eca7fa93c7b8\n"
			    "vm.lowmem_reserve_ratio = 256\t256\t32\t0\t0\n"
			    "vm.overcommit_memory = 0\n"
			    "vm.swappiness = 60\n");
	assert_int_equal(snapshot_take("dmesg", SYSROOT, &text, &err), -1);
	assert_int_equal(snapshot_take("vmstat", "/nonexistent", &text, &err), -1);
	assert_int_equal(err.errnum, ENOENT);
	assert_true(snapshot_known("zoneinfo"));
	assert_false(snapshot_known("nonsense"));
	assert_true(snapshot_wanted("dmesg", true));
	assert_false(snapshot_wanted("dmesg", false));
}

static void test_mount_flags(void **state)
{
	LAB_CLEANUP(free) char *data = NULL;
	LAB_CLEANUP(free) char *none = NULL;

	(void)state;
	assert_int_equal(mount_flags("ro,noatime,errors=panic,data=ordered", &data),
			 MS_RDONLY | MS_NOATIME);
	assert_string_equal(data, "errors=panic,data=ordered");
	assert_int_equal(mount_flags(NULL, &none), 0);
	assert_string_equal(none, "");
	free(LAB_TAKE(none));
	assert_int_equal(mount_flags("ro,rw", &none), 0);
}

static void test_parameters(void **state)
{
	LAB_CLEANUP(free)
	char *value =
		init_parameter("quiet xlabctl.channel=no labctl.channel=fd:3 psi=1\n", "channel");

	(void)state;
	assert_string_equal(value, "fd:3");
	assert_null(init_parameter("quiet psi=1", "channel"));
}

static void test_progress(void **state)
{
	struct progress progress = {0};

	(void)state;
	/* user 1, nice 2, system 3, irq 6, softirq 7; idle, iowait and steal do not count. */
	assert_int_equal(progress_busy_us("cpu  1 2 3 100 50 6 7 8 0 0\ncpu0 1"), 190000);
	assert_int_equal(progress_busy_us("cpu  1 2 3"), -1);
	assert_int_equal(progress_busy_us(""), -1);
	progress_add_bytes(&progress, 10);
	assert_int_equal(progress_read(&progress, SYSROOT), 10);
	/* A machine whose counters stand still makes no progress, however long it takes. */
	progress.t_us -= 60000000;
	assert_int_equal(progress_read(&progress, SYSROOT), 10);
	/* 2 s of work in 10 s, 2 % of which are taken for noise; our own time is next to nothing. */
	progress.t_us -= 10000000;
	progress.busy_us -= 2000000;
	assert_in_range(progress_read(&progress, SYSROOT), 1700000, 1800010);
	assert_true(progress_read(&progress, "/nonexistent") > 1700000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elfnote),	       cmocka_unit_test(test_hello),
		cmocka_unit_test(test_disks),	       cmocka_unit_test(test_nvdimms),
		cmocka_unit_test(test_channels),       cmocka_unit_test(test_setting_paths),
		cmocka_unit_test(test_setting_errors), cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_mount_flags),    cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
