/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "common/mem.h"
#include "lab_fixture.h"
#include "vmctl/hostload.h"
#include "vmctl/target.h"

static double number(const json_t *object, const char *a, const char *b)
{
	json_t *found = json_object_get(object, a);

	if (b)
		found = json_object_get(found, b);
	assert_true(json_is_number(found));
	return json_number_value(found);
}

static void test_load(void **state)
{
	json_t *load = host_load_read(TESTS_DIR "/data/host");
	double hz = (double)sysconf(_SC_CLK_TCK);

	(void)state;
	assert_float_equal(number(load, "load1", NULL), 1.25, 1e-9);
	assert_float_equal(number(load, "load15", NULL), 0.10, 1e-9);
	assert_float_equal(number(load, "cpu", "user_s"), 1200 / hz, 1e-9);
	assert_float_equal(number(load, "cpu", "system_s"), 311 / hz, 1e-9);
	assert_float_equal(number(load, "cpu", "steal_s"), 250 / hz, 1e-9);
	assert_float_equal(number(load, "mhz", "min"), 2400, 1e-9);
	assert_float_equal(number(load, "mhz", "max"), 3100.5, 1e-9);
	assert_float_equal(number(load, "pressure_cpu_avg10", NULL), 3.5, 1e-9);
	assert_string_equal(json_string_value(json_object_get(load, "governor")), "schedutil");
	json_decref(load);
}

/* What is not there is left out and never 0. */
static void test_nothing(void **state)
{
	json_t *load = host_load_read("/no/such/root");
	json_t *between = host_load_between(load, load);

	(void)state;
	assert_int_equal(json_object_size(load), 0);
	assert_int_equal(json_object_size(between), 0);
	json_decref(between);
	json_decref(load);
}

static void test_company(void **state)
{
	(void)state;
	/* 101 and 102 are QEMUs, 103 is a zombie of one, 104 something else. */
	assert_int_equal(host_count_qemu(TESTS_DIR "/data/host", 0), 2);
	assert_int_equal(host_count_qemu(TESTS_DIR "/data/host", 102), 1);
	assert_int_equal(host_count_qemu("/no/such/root", 0), 0);
}

static void test_between(void **state)
{
	json_t *a = json_pack("{s:{s:f, s:f, s:f, s:f, s:f}}", "cpu", "user_s", 10.0, "system_s",
			      5.0, "idle_s", 100.0, "iowait_s", 1.0, "steal_s", 2.0);
	json_t *b = json_pack("{s:{s:f, s:f, s:f, s:f, s:f}}", "cpu", "user_s", 12.0, "system_s",
			      6.0, "idle_s", 105.0, "iowait_s", 2.0, "steal_s", 3.0);
	json_t *between = host_load_between(a, b);

	(void)state;
	assert_float_equal(number(between, "steal_percent", NULL), 10, 1e-9);
	assert_float_equal(number(between, "busy_percent", NULL), 30, 1e-9);
	json_decref(between);
	json_decref(a);
	json_decref(b);
}

static void test_table(void **state)
{
	const struct target *target = NULL;

	(void)state;
	for (const struct target *const *t = target_list(); *t; t++) {
		assert_true(strlen((*t)->name) > 0 && strlen((*t)->help) > 0);
		assert_non_null((*t)->caps.time_unit);
		assert_non_null((*t)->caps.required_config);
		for (const char *const *c = (*t)->caps.required_config; *c; c++)
			assert_true(!strncmp(*c, "CONFIG_", 7) && strchr(*c, '='));
		assert_ok(target_find((*t)->name, &target, err));
		assert_ptr_equal(target, *t);
	}
	assert_ok(target_find("live:whatever", &target, err));
	assert_string_equal(target->name, "live");
	assert_fails(target_find("liv", &target, err), LAB_ERR_NOT_FOUND, "there is live");
	assert_fails(target_find("", &target, err), LAB_ERR_NOT_FOUND, "no target ''");
}

/* Without KVM one line names the ways on, and no hypervisor is asked. */
static void test_no_kvm(void **state)
{
	const struct target_job job = {
		.lab = "l", .run = "1.1", .connect = "nonsense:///x", .vcpus = 1};
	const struct target_job many = {.vcpus = 1000};
	const struct kvm_result probe = {.text = "no /dev/kvm"};
	const struct target *live = NULL;
	struct machine *machine = NULL;

	(void)state;
	assert_ok(target_find("live", &live, err));
	assert_fails(machine_prepare(live, &job, &probe, &machine, err), LAB_ERR_UNAVAILABLE,
		     "target live needs KVM: no /dev/kvm; go on with ");
	assert_fails(machine_prepare(live, &job, &probe, &machine, err), LAB_ERR_UNAVAILABLE,
		     "--allow-emulated");
	assert_fails(machine_prepare(live, &many, &probe, &machine, err), LAB_ERR_INVALID,
		     "1000 are asked for");
	assert_null(machine);
	machine_free(NULL);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(machine_stop_name(MACHINE_SHUTDOWN), "shutdown");
	assert_string_equal(machine_stop_name(MACHINE_IO_ERROR), "io-error");
	assert_string_equal(machine_stop_name((enum machine_stop)77), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),	cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_company), cmocka_unit_test(test_between),
		cmocka_unit_test(test_table),	cmocka_unit_test(test_no_kvm),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("vmctl target", tests, NULL, NULL);
}
