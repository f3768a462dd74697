/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making an image, with a stand-in for mmdebstrap (tests/data/images/bin) and with the real
 * libguestfs. The real mmdebstrap is at work in `make demo`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "images/appliance.h"
#include "images/image.h"

static char dir[] = "/tmp/labctl-image-XXXXXX";
static struct lab *lab;
static char *recipe, *old_path;

/* What the build said, and whether it is to be stopped. */
struct talk {
	struct lab_buf said;
	const char *stop_at; /* text of a step at which to ask for the end */
	bool stop;
};

static void hear(void *ctx, const char *phase, const char *text)
{
	struct talk *talk = ctx;

	lab_buf_addf(&talk->said, "%s: %s\n", phase, text);
	if (talk->stop_at && strcmp(text, talk->stop_at) == 0)
		talk->stop = true;
}

static bool stopped(void *ctx)
{
	return ((struct talk *)ctx)->stop;
}

static int setup(void **state)
{
	static const char text[] = "suite: bookworm\nsize: 256 MiB\npackages: [rt-tests]\n";
	LAB_CLEANUP(free) char *bin = realpath("tests/data/images/bin", NULL);
	LAB_CLEANUP(free) char *path = NULL;
	LAB_CLEANUP(free) char *lab_path = NULL;
	struct lab_error err = {0};

	(void)state;
	if (!mkdtemp(dir) || !bin)
		return -1;
	lab_path = lab_path_join(dir, "lab");
	recipe = lab_path_join(dir, "small.yaml");
	old_path = lab_strdup(getenv("PATH"));
	path = lab_asprintf("%s:%s", bin, old_path);
	setenv("PATH", path, 1);
	if (lab_init(lab_path, &err) < 0 || lab_open(lab_path, &lab, &err) < 0 ||
	    lab_write_file(recipe, text, strlen(text), 0644, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lab_free(lab);
	free(recipe);
	free(old_path);
	return lab_remove_tree(dir, NULL);
}

/* No draft, no scratch: only hidden files that the store keeps may stay. */
static void assert_nothing_left(void)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "artifacts/tmp");
	LAB_CLEANUP(dir) DIR *d = opendir(path);
	struct dirent *entry;

	assert_non_null(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] != '.')
			fail_msg("left in %s: %s", path, entry->d_name);
	}
}

static void refuse(const char *fake, struct talk *talk, enum lab_error_kind kind, const char *text)
{
	const struct image_progress progress = {talk, hear, stopped};
	const struct image_request request = {
		.recipe = recipe, .force_tcg = true, .progress = talk ? &progress : NULL};
	struct artifact *image = NULL;
	struct lab_error err = {0};

	setenv("FAKE", fake, 1);
	assert_int_equal(image_ensure(lab, &request, &image, NULL, &err), -1);
	unsetenv("FAKE");
	assert_null(image);
	if (!strstr(err.text, text))
		assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
	assert_nothing_left();
}

static void test_failures(void **state)
{
	LAB_CLEANUP(free) char *log = lab_path(lab, "logs/image-small.log");
	LAB_CLEANUP(free)
	char *package =
		lab_asprintf("image 'small': mmdebstrap: Unable to locate package no-such-package "
			     "(log: %s)",
			     log);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	(void)state;
	refuse("package", NULL, LAB_ERR_FAILED, package);
	/* The log that the error names is there, whole. */
	assert_int_equal(lab_read_file(log, 1 << 20, &text, NULL), 0);
	assert_non_null(strstr(text.data, "Reading package lists..."));
	assert_non_null(strstr(text.data, "received signal PIPE"));
	refuse("command", NULL, LAB_ERR_FAILED,
	       "command failed: chroot \"$1\" 'hackbench': hackbench: cannot open shared object");
	refuse("silent", NULL, LAB_ERR_FAILED, "image 'small': ");
}

static void test_missing_program(void **state)
{
	LAB_CLEANUP(free) char *path = lab_strdup(getenv("PATH"));

	(void)state;
	setenv("PATH", dir, 1);
	refuse("", NULL, LAB_ERR_UNAVAILABLE, "needs mmdebstrap: apt-get install mmdebstrap");
	setenv("PATH", path, 1);
}

static void test_stop_bootstrap(void **state)
{
	struct talk talk = {.stop_at = "reading the package lists"};
	uint64_t began = lab_now_ms();

	(void)state;
	refuse("hang", &talk, LAB_ERR_CANCELLED, "image 'small': stopped while the tree was made");
	assert_in_range(lab_now_ms() - began, 0, 8000);
	lab_buf_release(&talk.said);
}

static bool appliance_possible(void)
{
	LAB_CLEANUP(image_host) struct image_host host = {0};

	image_host_look(&host);
	if (host.kernel)
		return true;
	print_message("libguestfs cannot work here: %s\n", host.kernel_cure);
	return false;
}

static void test_stop_appliance(void **state)
{
	struct talk talk = {.stop_at = "starting the libguestfs appliance"};
	uint64_t began = lab_now_ms();

	(void)state;
	if (!appliance_possible())
		skip();
	refuse("", &talk, LAB_ERR_CANCELLED, "stopped while the appliance started");
	/* It does not wait for the boot of the appliance; the first one ever has to be made. */
	assert_in_range(lab_now_ms() - began, 0, 60000);
	lab_buf_release(&talk.said);
}

static void assert_debugfs(const char *image, const char *command, const char *wanted)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const struct lab_proc proc = {
		.argv = (const char *const[]){"debugfs", "-R", command, image, NULL},
		.timeout_ms = 20000};
	struct lab_error err = {0};

	if (lab_proc_must(&proc, &result, &err) < 0)
		fail_msg("%s", err.text);
	if (!result.out.data || !strstr(result.out.data, wanted))
		fail_msg("debugfs %s: %s", command, result.out.data ? result.out.data : "nothing");
}

static void test_whole(void **state)
{
	struct talk talk = {0};
	const struct image_progress progress = {&talk, hear, stopped};
	const struct image_request request = {
		.recipe = recipe, .force_tcg = true, .progress = &progress};
	LAB_CLEANUP(artifact) struct artifact *image = NULL;
	LAB_CLEANUP(artifact) struct artifact *again = NULL;
	LAB_CLEANUP(free) char *root = NULL;
	LAB_CLEANUP(proc_result) struct lab_proc_result fsck = {0};
	struct lab_error err = {0};
	bool cached = true;
	struct stat st;

	(void)state;
	if (!appliance_possible())
		skip();
	if (image_ensure(lab, &request, &image, &cached, &err) < 0)
		fail_msg("%s", err.text);
	assert_false(cached);
	assert_nothing_left();
	root = lab_path_join(image->path, IMAGE_ROOT);
	assert_int_equal(stat(root, &st), 0);
	assert_int_equal(st.st_size, 256 << 20);
	assert_true(st.st_blocks * 512 < 16 << 20);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_debugfs(root, "cat /etc/origin", "made by a test\n");
	assert_debugfs(root, "stat /etc/origin", "Mode:  0600");
	assert_debugfs(root, "stat /etc/origin", "mtime: 0x63b0cd00");
	assert_debugfs(root, "show_super_stats -h",
		       "Filesystem UUID:          6c616263-746c-4000-8000-000000000010");
	fsck.exit_code = -1;
	assert_int_equal(
		lab_proc_must(
			&(const struct lab_proc){
				.argv = (const char *const[]){"e2fsck", "-fn", root, NULL}},
			&fsck, &err),
		0);
	assert_string_equal(image->label, "small");
	assert_non_null(strstr(image->manifest, "\"rt-tests\":\"2.4-1\""));
	assert_non_null(strstr(image->manifest, "\"mmdebstrap\":\"9.9.9\""));
	assert_non_null(strstr(image->manifest, "\"force_tcg\":true"));
	assert_non_null(strstr(talk.said.data, "bootstrap: packing the tree\n"));
	assert_non_null(strstr(talk.said.data, "image: writing the tree\n"));
	/* The second time is a look-up: mmdebstrap would fail. */
	setenv("FAKE", "package", 1);
	assert_int_equal(image_ensure(lab, &request, &again, &cached, &err), 0);
	unsetenv("FAKE");
	assert_true(cached);
	assert_string_equal(image->path, again->path);
	lab_buf_release(&talk.said);
}

static void test_explanations(void **state)
{
	static const char closed[] =
		"guestfs_launch failed: appliance closed the connection unexpectedly.\n"
		"To see full error messages you may need to enable debugging.\nDo:\n  export X=1";
	struct appliance appliance = {.log = "/lab/log"};
	struct lab_error err = {0};

	(void)state;
	appliance_explain(&appliance, closed, &err);
	assert_non_null(strstr(err.text, "no guest runs on this host's /dev/kvm"));
	assert_non_null(strstr(err.text, "(log: /lab/log;"));
	assert_null(strstr(err.text, "To see full"));
	appliance.force_tcg = true;
	appliance_explain(&appliance, closed, &err);
	assert_non_null(strstr(err.text, "too little memory"));
	appliance_explain(&appliance, "/usr/bin/supermin exited with error status 1.", &err);
	assert_non_null(strstr(err.text, "SUPERMIN_KERNEL"));
	assert_int_equal(err.kind, LAB_ERR_UNAVAILABLE);
	appliance_explain(&appliance, "tar_in: write error: No space left on device", &err);
	assert_non_null(strstr(err.text, "the image's 'size' is too small"));
	appliance_explain(&appliance, "something new", &err);
	assert_non_null(strstr(err.text, "libguestfs: something new"));
	assert_int_equal(err.kind, LAB_ERR_FAILED);
}

static void test_kernel(void **state)
{
	LAB_CLEANUP(free) char *boot = lab_path_join(dir, "boot");
	LAB_CLEANUP(free) char *file = lab_path_join(dir, "boot/vmlinuz-1.2.3");
	LAB_CLEANUP(free) char *modules = lab_path_join(dir, "modules");
	LAB_CLEANUP(free) char *tree = lab_path_join(dir, "modules/1.2.3");
	LAB_CLEANUP(free) char *cure = NULL;
	LAB_CLEANUP(free) char *kernel = NULL;
	int status;
	pid_t pid;

	(void)state;
	assert_null(appliance_kernel(boot, modules, &cure));
	assert_non_null(strstr(cure, "no kernel with modules in"));
	assert_int_equal(lab_mkdirs(boot, 0755, NULL), 0);
	assert_int_equal(lab_write_file(file, "x", 1, 0600, NULL), 0);
	free(LAB_TAKE(cure));
	assert_null(appliance_kernel(boot, modules, &cure)); /* no modules for it */
	assert_int_equal(lab_mkdirs(tree, 0755, NULL), 0);
	kernel = appliance_kernel(boot, modules, &cure);
	assert_string_equal(kernel, file);
	if (geteuid() != 0)
		return; /* what follows needs a file of somebody else */
	assert_int_equal(chmod(dir, 0755), 0);
	pid = fork();
	if (pid == 0) {
		char *said = NULL;

		if (setgid(65534) < 0 || setuid(65534) < 0 ||
		    appliance_kernel(boot, modules, &said) || !strstr(said, "cannot read") ||
		    !strstr(said, file) || !strstr(said, "chmod 0644"))
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explanations),   cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_failures),       cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_stop_bootstrap), cmocka_unit_test(test_stop_appliance),
		cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
