/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "images/initramfs.h"
#include "store/hash.h"

static char dir[] = "/tmp/labctl-initramfs-XXXXXX";
static struct lab *lab;

static char *path_of(const char *name)
{
	return lab_path_join(dir, name);
}

static void put(const char *name, const char *content)
{
	LAB_CLEANUP(free) char *path = path_of(name);
	LAB_CLEANUP(free) char *parent = lab_strndup(path, (size_t)(lab_path_base(path) - path));
	struct lab_error err = {0};

	if (lab_mkdirs(parent, 0755, &err) < 0 ||
	    lab_write_file(path, content, strlen(content), 0644, &err) < 0)
		fail_msg("%s", err.text);
}

/* Runs a program that must work; its output, to be freed. */
static char *run(const char *const *argv, const char *input, size_t len, const char *cwd)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const struct lab_proc proc = {
		.argv = argv, .input = input, .input_len = len, .cwd = cwd, .timeout_ms = 20000};
	struct lab_error err = {0};

	if (lab_proc_must(&proc, &result, &err) < 0)
		fail_msg("%s", err.text);
	return lab_buf_take(&result.out);
}

#define TREE "mods/6.1.0-test"
#define VIRTIO TREE "/kernel/drivers/virtio/"

static const char dep[] = "kernel/drivers/virtio/virtio.ko:\n"
			  "kernel/drivers/virtio/virtio_ring.ko:\n"
			  "kernel/drivers/virtio/virtio-pci.ko: kernel/drivers/virtio/virtio.ko "
			  "kernel/drivers/virtio/virtio_ring.ko\n"
			  "kernel/drivers/char/virtio_console.ko: kernel/drivers/virtio/virtio.ko\n"
			  "kernel/drivers/block/virtio_blk.ko: kernel/drivers/virtio/virtio.ko\n"
			  "kernel/drivers/net/unused.ko:\n"
			  "kernel/lib/crc16.ko.xz:\n"
			  "kernel/fs/jbd2/jbd2.ko:\n"
			  "kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko kernel/lib/crc16.ko.xz\n";

static void put_modules(void)
{
	LAB_CLEANUP(free) char *packed = path_of(TREE "/kernel/lib");

	put(TREE "/modules.dep", dep);
	put(TREE "/modules.builtin", "kernel/drivers/nvme/host/nvme.ko\n");
	put(VIRTIO "virtio.ko", "virtio");
	put(VIRTIO "virtio_ring.ko", "ring");
	put(VIRTIO "virtio-pci.ko", "pci");
	put(TREE "/kernel/drivers/char/virtio_console.ko", "console");
	put(TREE "/kernel/drivers/block/virtio_blk.ko", "blk");
	put(TREE "/kernel/drivers/net/unused.ko", "unused");
	put(TREE "/kernel/fs/jbd2/jbd2.ko", "jbd2");
	put(TREE "/kernel/fs/ext4/ext4.ko", "ext4");
	put(TREE "/kernel/lib/crc16.ko", "crc16");
	free(run((const char *const[]){"xz", "-f", "crc16.ko", NULL}, NULL, 0, packed));
}

static int setup(void **state)
{
	LAB_CLEANUP(free) char *lab_path = NULL;
	struct lab_error err = {0};

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	lab_path = path_of("lab");
	if (lab_init(lab_path, &err) < 0 || lab_open(lab_path, &lab, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	put("agent", "#!/bin/true\n");
	put_modules();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lab_free(lab);
	return lab_remove_tree(dir, NULL);
}

static void test_order(void **state)
{
	static const char *const wanted[] = {"virtio.ko",	  "virtio_ring.ko", "virtio-pci.ko",
					     "virtio_console.ko", "virtio_blk.ko",  "jbd2.ko",
					     "crc16.ko.xz",	  "ext4.ko"};
	LAB_CLEANUP(free) char *tree = path_of(TREE);
	LAB_CLEANUP(strv) struct lab_strv files = LAB_STRV_INIT;
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(initramfs_modules(tree, &files, &err), 0);
	assert_int_equal(files.n, LAB_COUNT(wanted));
	for (size_t i = 0; i < files.n; i++) {
		assert_string_equal(lab_path_base(files.items[i]), wanted[i]);
		assert_true(lab_file_exists(files.items[i]));
	}
}

/* `cpio -itv` without the date. */
static void test_listing(void **state)
{
	static const char wanted[] = "drwxr-xr-x 0 0 dev\n"
				     "crw------- 0 0 5, 1 dev/console\n"
				     "crw------- 0 0 1, 11 dev/kmsg\n"
				     "crw------- 0 0 1, 3 dev/null\n"
				     "-rwxr-xr-x 0 0 12 init\n"
				     "drwxr-xr-x 0 0 modules\n"
				     "-rw-r--r-- 0 0 168 modules.list\n"
				     "-rw-r--r-- 0 0 3 modules/virtio_blk.ko\n"
				     "drwxr-xr-x 0 0 newroot\n"
				     "drwxr-xr-x 0 0 proc\n"
				     "drwxr-xr-x 0 0 run\n"
				     "drwxr-xr-x 0 0 sys\n";
	LAB_CLEANUP(free) char *tree = path_of(TREE);
	LAB_CLEANUP(free) char *agent = path_of("agent");
	LAB_CLEANUP(free) char *out = path_of("listing.cpio");
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *list = NULL;
	LAB_CLEANUP(free) char *crc16 = NULL;
	LAB_CLEANUP(free) char *names = NULL;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	struct lab_error err = {0};

	(void)state;
	if (initramfs_write(agent, tree, out, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(lab_read_file(out, 1 << 20, &bytes, &err), 0);
	assert_memory_equal(bytes.data, "070701", 6); /* newc, not compressed */
	names = run((const char *const[]){"cpio", "-itvn", "--quiet", NULL}, bytes.data, bytes.len,
		    NULL);
	lab_strv_split(&lines, wanted, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		/* Compare field by field: cpio pads and dates its lines. */
		LAB_CLEANUP(strv) struct lab_strv fields = LAB_STRV_INIT;
		LAB_CLEANUP(free) char *end = NULL;
		const char *hit;

		lab_strv_split(&fields, lines.items[i], " ");
		end = lab_asprintf(" %s\n", fields.items[fields.n - 1]);
		hit = strstr(names, end);
		if (!hit)
			fail_msg("no %s in: %s", fields.items[fields.n - 1], names);
		while (hit > names && hit[-1] != '\n')
			hit--;
		for (size_t j = 0; j < fields.n; j++) {
			const char *field = strstr(hit, fields.items[j]);

			if (!field || field > strchr(hit, '\n'))
				fail_msg("no '%s' in line of %s: %s", fields.items[j],
					 lines.items[i], names);
		}
	}
	assert_null(strstr(names, "unused"));
	list = run(
		(const char *const[]){"cpio", "-i", "--quiet", "--to-stdout", "modules.list", NULL},
		bytes.data, bytes.len, NULL);
	assert_string_equal(list, "/modules/virtio.ko\n/modules/virtio_ring.ko\n"
				  "/modules/virtio_pci.ko\n/modules/virtio_console.ko\n"
				  "/modules/virtio_blk.ko\n/modules/jbd2.ko\n/modules/crc16.ko\n"
				  "/modules/ext4.ko\n");
	/* Packed in the tree, plain in the archive. */
	crc16 = run((const char *const[]){"cpio", "-i", "--quiet", "--to-stdout",
					  "modules/crc16.ko", NULL},
		    bytes.data, bytes.len, NULL);
	assert_string_equal(crc16, "crc16");
}

static void hash_of(const char *modules, char out[HASH_HEX])
{
	LAB_CLEANUP(free) char *agent = path_of("agent");
	LAB_CLEANUP(free) char *path = path_of("again.cpio");
	struct lab_error err = {0};

	if (initramfs_write(agent, modules, path, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(hash_file(path, out, &err), 0);
}

static void test_same_bytes(void **state)
{
	LAB_CLEANUP(free) char *tree = path_of(TREE);
	LAB_CLEANUP(free) char *copy = path_of("elsewhere");
	char a[HASH_HEX], b[HASH_HEX];
	mode_t old;

	(void)state;
	hash_of(tree, a);
	lab_sleep_ms(1100); /* other times, other inodes, other mask, other path */
	free(run((const char *const[]){"cp", "-r", tree, copy, NULL}, NULL, 0, NULL));
	put("agent", "#!/bin/true\n");
	old = umask(077);
	hash_of(copy, b);
	umask(old);
	assert_string_equal(a, b);
}

static struct artifact *ensure(const char *modules, bool wanted_cached)
{
	LAB_CLEANUP(free) char *agent = path_of("agent");
	struct artifact *a = NULL;
	struct lab_error err = {0};
	bool cached = !wanted_cached;

	if (initramfs_ensure(lab, agent, modules, &a, &cached, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(cached, wanted_cached);
	return a;
}

/* A file behind all others, as the kernel and cpio(1) read it. */
static void test_append(void **state)
{
	LAB_CLEANUP(free) char *base = path_of("base.cpio");
	LAB_CLEANUP(free) char *path = path_of("with.cpio");
	LAB_CLEANUP(free) char *agent = path_of("agent");
	LAB_CLEANUP(buf) struct lab_buf before = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf after = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *text = NULL;
	struct lab_error err = {0};
	const char *behind;

	(void)state;
	put("agent", "an agent");
	assert_int_equal(initramfs_write(agent, NULL, base, &err), 0);
	assert_int_equal(initramfs_append(base, "job.json", "{\"run\": 1}", path, &err), 0);
	assert_int_equal(lab_read_file(base, 1 << 20, &before, &err), 0);
	assert_int_equal(lab_read_file(path, 1 << 20, &after, &err), 0);
	assert_memory_equal(after.data, before.data, before.len);
	assert_int_equal(before.len % 4, 0);
	behind = after.data + before.len;
	text = run((const char *const[]){"cpio", "-i", "--quiet", "--to-stdout", "job.json", NULL},
		   behind, after.len - before.len, dir);
	assert_string_equal(text, "{\"run\": 1}");
	assert_int_equal(initramfs_append("/nonexistent", "job.json", "", path, &err), -1);
}

static void test_artifact(void **state)
{
	LAB_CLEANUP(free) char *tree = path_of(TREE);
	LAB_CLEANUP(free) char *kernel = path_of("kernel");
	LAB_CLEANUP(artifact) struct artifact *with = ensure(tree, false);
	LAB_CLEANUP(artifact) struct artifact *again = ensure(tree, true);
	LAB_CLEANUP(artifact) struct artifact *without = ensure(NULL, false);
	LAB_CLEANUP(artifact) struct artifact *bare = NULL;
	LAB_CLEANUP(artifact) struct artifact *other = NULL;
	LAB_CLEANUP(artifact) struct artifact *below = NULL;
	LAB_CLEANUP(free) char *file = lab_path_join(with->path, INITRAMFS_FILE);

	(void)state;
	assert_true(lab_file_exists(file));
	assert_string_equal(with->key, again->key);
	assert_string_not_equal(with->key, without->key);
	assert_non_null(strstr(with->manifest, "\"release\":\"6.1.0-test\""));
	assert_non_null(strstr(with->manifest, "\"virtio_console\""));
	assert_non_null(strstr(without->manifest, "\"modules\":[]"));
	/* A kernel artifact whose config has no modules, then one that has. */
	put("kernel/bzImage", "kernel");
	bare = ensure(kernel, true);
	assert_string_equal(bare->key, without->key);
	put("kernel/modules/lib/modules/x", "");
	assert_int_equal(lab_remove_tree(kernel, NULL), 0);
	put("kernel/modules/lib/modules/README", "");
	free(run((const char *const[]){"cp", "-r", tree, "kernel/modules/lib/modules/", NULL}, NULL,
		 0, dir));
	below = ensure(kernel, true);
	assert_string_equal(below->key, with->key);
	put("agent", "#!/bin/false\n");
	other = ensure(NULL, false);
	assert_string_not_equal(other->key, without->key);
	put("agent", "#!/bin/true\n");
}

static void assert_refused(const char *modules, enum lab_error_kind kind, const char *text)
{
	LAB_CLEANUP(free) char *agent = path_of("agent");
	LAB_CLEANUP(free) char *out = path_of("refused.cpio");
	struct lab_error err = {0};

	assert_int_equal(initramfs_write(agent, modules, out, &err), -1);
	if (!strstr(err.text, text))
		assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
	assert_false(lab_file_exists(out));
}

static void test_refusals(void **state)
{
	LAB_CLEANUP(free) char *tree = path_of(TREE);
	LAB_CLEANUP(free) char *missing = path_of("missing");
	LAB_CLEANUP(free) char *two = path_of("two");

	(void)state;
	assert_refused(missing, LAB_ERR_NOT_FOUND, "missing: No such file");
	put(TREE "/modules.builtin", "");
	assert_refused(tree, LAB_ERR_NOT_FOUND,
		       "has no module nvme, neither as a file nor built in; it is needed for data");
	put(TREE "/modules.builtin", "kernel/drivers/nvme/host/nvme.ko\n");
	put(TREE "/modules.dep", "no table\n");
	assert_refused(tree, LAB_ERR_INVALID, "has a line without colon: no table");
	put(TREE "/modules.dep", "kernel/drivers/virtio/virtio-pci.ko: kernel/absent.ko\n");
	assert_refused(tree, LAB_ERR_INVALID,
		       "virtio-pci.ko needs kernel/absent.ko, which it does not list");
	put(TREE "/modules.dep", "kernel/other/virtio_pci.ko:\n");
	assert_refused(tree, LAB_ERR_NOT_FOUND, "lists kernel/other/virtio_pci.ko, which is not");
	put("two/lib/modules/a/modules.dep", "");
	put("two/lib/modules/b/modules.dep", "");
	assert_refused(two, LAB_ERR_INVALID, "has modules of more than one kernel");
	put_modules();
	put(TREE "/kernel/lib/crc16.ko.xz", "torn");
	assert_refused(tree, LAB_ERR_FAILED, "crc16.ko.xz: xz ended with exit code 1");
	put_modules();
}

/* The kernel that the distribution installs for virtual machines, where it is. */
static void test_distribution(void **state)
{
	LAB_CLEANUP(dir) DIR *modules = opendir("/lib/modules");
	struct dirent *entry;
	unsigned seen = 0;

	(void)state;
	while (modules && (entry = readdir(modules))) {
		LAB_CLEANUP(free) char *tree = lab_path_join("/lib/modules", entry->d_name);
		LAB_CLEANUP(strv) struct lab_strv files = LAB_STRV_INIT;
		struct lab_error err = {0};
		bool console = false;

		if (!lab_ends_with(entry->d_name, "-cloud-amd64"))
			continue;
		if (initramfs_modules(tree, &files, &err) < 0)
			fail_msg("%s", err.text);
		for (size_t i = 0; i < files.n; i++)
			console |= strstr(files.items[i], "/virtio_console.ko") != NULL;
		assert_true(console);
		seen++;
	}
	if (!seen) {
		print_message("no cloud kernel in /lib/modules: apt-get install "
			      "linux-image-cloud-amd64\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	     cmocka_unit_test(test_listing),
		cmocka_unit_test(test_same_bytes),   cmocka_unit_test(test_artifact),
		cmocka_unit_test(test_append),	     cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_distribution),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
