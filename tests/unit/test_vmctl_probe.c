/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "lab_fixture.h"
#include "vmctl/kvm.h"

/* A program that stands in for QEMU. */
static char *fake_qemu(const struct lab_fixture *f, const char *script)
{
	char *path = lab_path_join(f->top, "qemu-fake");
	LAB_CLEANUP(free) char *text = lab_asprintf("#!/bin/sh\n%s\n", script);

	assert_ok(lab_write_file(path, text, strlen(text), 0755, err));
	return path;
}

static struct kvm_result judge(const struct lab_fixture *f, const char *script, unsigned ms)
{
	LAB_CLEANUP(free) char *path = fake_qemu(f, script);
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	struct kvm_result verdict;

	assert_ok(kvm_boot(path, "kvm", ms, &result, err));
	kvm_judge(&result, ms, &verdict);
	return verdict;
}

static void test_works(void **state)
{
	struct kvm_result r = judge(*state, "exit 99", 5000);

	assert_true(r.works);
	assert_string_equal(r.text, "a guest runs on /dev/kvm");
}

static void test_aborts(void **state)
{
	struct kvm_result r = judge(*state,
				    "echo 'qemu-system-x86_64: error: failed to set MSR 0x10a to "
				    "0x2000000' >&2\n"
				    "echo 'qemu-system-x86_64: ../target/i386/kvm/kvm.c:3212: "
				    "kvm_buf_set_msrs: Assertion' >&2\n"
				    "kill -ABRT $$",
				    5000);

	assert_false(r.works);
	assert_string_equal(r.text, "/dev/kvm opens but no guest runs on it (QEMU: failed to set "
				    "MSR 0x10a to 0x2000000)");
	assert_true(strlen(r.cure) > 0);
}

static void test_silent_end(void **state)
{
	struct kvm_result r = judge(*state, "exit 1", 5000);

	assert_false(r.works);
	assert_non_null(strstr(r.text, "QEMU: exit code 1"));
	r = judge(*state, "kill -SEGV $$", 5000);
	assert_non_null(strstr(r.text, "QEMU: ended by signal 11"));
	/* Another exit code of the boot sector's device is no proof. */
	assert_false(judge(*state, "exit 0", 5000).works);
}

static void test_spins(void **state)
{
	uint64_t begin = lab_now_ms();
	struct kvm_result r = judge(*state, "sleep 60", 1000);

	assert_false(r.works);
	assert_string_equal(r.text,
			    "/dev/kvm opens but a guest hangs on it (nothing booted in 1 s)");
	assert_in_range(lab_now_ms() - begin, 900, 10000);
}

static void test_device(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *file = lab_path_join(f->top, "kvm");
	struct kvm_result r;

	assert_false(kvm_device(file, &r));
	assert_non_null(strstr(r.text, "no /"));
	assert_non_null(strstr(r.cure, "modprobe"));
	assert_ok(lab_write_file(file, "", 0, 0644, err));
	assert_true(kvm_device(file, &r));
	if (geteuid() == 0)
		return;
	assert_int_equal(chmod(file, 0), 0);
	assert_false(kvm_device(file, &r));
	assert_non_null(strstr(r.text, "is not for this user"));
	assert_non_null(strstr(r.cure, "group") ? r.cure : strstr(r.cure, "kvm"));
}

/* The boot sector itself, on the processor that every QEMU has. */
static void test_sector(void **state)
{
	LAB_CLEANUP(free) char *qemu = lab_proc_which("qemu-system-x86_64");
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	LAB_CLEANUP(free) char *build = NULL;
	struct kvm_result r;

	(void)state;
	if (!qemu)
		skip();
	assert_ok(kvm_boot(qemu, "tcg", 60000, &result, err));
	kvm_judge(&result, 60000, &r);
	if (!r.works)
		fail_msg("%s", r.text);
	assert_ok(qemu_build(qemu, &build, err));
	assert_in_range(build[0], '1', '9');
	assert_null(strchr(build, '\n'));
}

/* Whatever this host is, the question gets an answer in words, twice the same. */
static void test_probe(void **state)
{
	struct lab_fixture *f = *state;
	struct kvm_result first, second;

	LAB_CLEANUP(free) char *qemu = lab_proc_which("qemu-system-x86_64");

	if (!qemu)
		skip();
	assert_ok(kvm_probe(f->lab, NULL, &first, err));
	assert_ok(kvm_probe(f->lab, NULL, &second, err));
	assert_true(strlen(first.text) > 0);
	assert_int_equal(first.works, second.works);
	assert_string_equal(first.text, second.text);
	/* What a boot had to find out is kept; what a look tells is looked at. */
	if (access(KVM_DEVICE, R_OK | W_OK) == 0)
		assert_true(second.cached);
	else
		assert_false(second.cached);
	assert_fails(kvm_probe(NULL, "/no/such/qemu", &first, err), LAB_ERR_UNAVAILABLE, "apt-get");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_works, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_aborts, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_silent_end, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_spins, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_device, lab_set_up, lab_tear_down),
		cmocka_unit_test(test_sector),
		cmocka_unit_test_setup_teardown(test_probe, lab_set_up, lab_tear_down),
	};

	return cmocka_run_group_tests_name("vmctl probe", tests, NULL, NULL);
}
