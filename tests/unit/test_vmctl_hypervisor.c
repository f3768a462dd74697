/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "lab_fixture.h"
#include "vmctl/hypervisor.h"
#include "vmctl/process.h"
#include "vmctl/virt.h"
#include "vmctl/vm.h"

static void create(struct hypervisor *hv, const char *name, const char *metadata)
{
	LAB_CLEANUP(free)
	char *xml = lab_asprintf("<domain type='test'><name>%s</name>%s<memory>65536</memory>"
				 "<vcpu>2</vcpu><os><type>hvm</type></os></domain>",
				 name, metadata);
	virConnectPtr conn;
	virDomainPtr dom;

	assert_ok(hypervisor_connection(hv, &conn, err));
	dom = virDomainCreateXML(conn, xml, 0);
	assert_non_null(dom);
	virDomainFree(dom);
}

static void create_ours(struct hypervisor *hv, const char *name, const char *lab, const char *run,
			pid_t owner, uint64_t started)
{
	LAB_CLEANUP(free)
	char *metadata =
		lab_asprintf("<metadata><labctl:run xmlns:labctl='%s' lab='%s' name='%s' "
			     "owner='%d' started='%llu'/></metadata>",
			     LABCTL_XMLNS, lab, run, (int)owner, (unsigned long long)started);

	create(hv, name, metadata);
}

static void test_domains(void **state)
{
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = NULL;
	LAB_CLEANUP(hypervisor_domains) struct hypervisor_domains all = {0};
	LAB_CLEANUP(hypervisor_domains) struct hypervisor_domains mine = {0};
	LAB_CLEANUP(hypervisor_domains) struct hypervisor_domains left = {0};
	unsigned n = 0;

	(void)state;
	assert_ok(hypervisor_open("test:///default", &hv, err));
	create_ours(hv, "labctl-a-7.10", "lab-a", "7.10", getpid(), process_started(getpid()));
	/* The number of a living process that started at another time: stale. */
	create_ours(hv, "labctl-a-7.9", "lab-a", "7.9", getpid(), process_started(getpid()) + 1);
	create_ours(hv, "labctl-b-1.1", "lab-b", "1.1", 0, 0);
	create(hv, "foreign", "<metadata><x:y xmlns:x='urn:x' lab='lab-a' name='1'/></metadata>");

	assert_ok(hypervisor_list(hv, NULL, &all, err));
	assert_int_equal(all.n, 3);
	assert_ok(hypervisor_list(hv, "lab-a", &mine, err));
	assert_int_equal(mine.n, 2);
	assert_string_equal(mine.items[0].name, "labctl-a-7.9");
	assert_false(mine.items[0].owner_alive);
	assert_string_equal(mine.items[1].run, "7.10");
	assert_true(mine.items[1].owner_alive);
	assert_true(mine.items[1].running);
	assert_int_equal(mine.items[1].vcpus, 2);
	assert_int_equal(mine.items[1].memory, 65536 * 1024);

	assert_ok(hypervisor_clean(hv, "lab-a", false, &n, err));
	assert_int_equal(n, 1);
	assert_ok(hypervisor_clean(hv, "lab-a", true, &n, err));
	assert_int_equal(n, 1);
	assert_ok(hypervisor_list(hv, NULL, &left, err));
	assert_int_equal(left.n, 1);
	assert_string_equal(left.items[0].lab, "lab-b");
}

static void test_destroy(void **state)
{
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = NULL;
	LAB_CLEANUP(hypervisor_domains) struct hypervisor_domains left = {0};

	(void)state;
	assert_ok(hypervisor_open("test:///default", &hv, err));
	create_ours(hv, "labctl-c-1.1", "lab-c", "1.1", 0, 0);
	assert_ok(hypervisor_destroy(hv, "labctl-c-1.1", err));
	assert_ok(hypervisor_destroy(hv, "labctl-c-1.1", err));
	assert_ok(hypervisor_list(hv, "lab-c", &left, err));
	assert_int_equal(left.n, 0);
}

static void test_info(void **state)
{
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = NULL;
	const struct hypervisor_info *info;

	(void)state;
	assert_ok(hypervisor_open("test:///default", &hv, err));
	assert_ok(hypervisor_info(hv, &info, err));
	assert_null(info->emulator);
	assert_false(info->kvm);
	assert_true(info->libvirt >= 8002000);
	assert_string_equal(info->uri, "test:///default");
	assert_string_equal(hypervisor_default_uri(),
			    geteuid() ? "qemu:///session" : "qemu:///system");
}

/* What is not there is named with what starts it, and nothing goes to stderr. */
static void test_no_daemon(void **state)
{
	struct hypervisor *hv = NULL;
	FILE *capture = tmpfile();
	int saved = dup(STDERR_FILENO);
	struct lab_error why = {0};

	(void)state;
	fflush(stderr);
	dup2(fileno(capture), STDERR_FILENO);
	assert_int_equal(
		hypervisor_open("qemu+unix:///system?socket=/no/such/dir/libvirt-sock", &hv, &why),
		-1);
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(why.kind, LAB_ERR_UNAVAILABLE);
	assert_non_null(strstr(why.text, "libvirtd is not running; start it with: "));
	assert_int_equal(fseek(capture, 0, SEEK_END), 0);
	assert_int_equal(ftell(capture), 0);
	fclose(capture);
	assert_fails(hypervisor_open("nonsense:///x", &hv, err), LAB_ERR_UNAVAILABLE, "nonsense");
	assert_null(hv);
}

static void test_explain(void **state)
{
	static const struct {
		const char *message, *words;
		int code;
		enum lab_error_kind kind;
	} rows[] = {
		{"Failed to connect socket to '/var/run/libvirt/virtlogd-sock': No such file or "
		 "directory",
		 "virtlogd is not running; start it with: ", VIR_ERR_SYSTEM_ERROR,
		 LAB_ERR_UNAVAILABLE},
		{"Failed to connect socket to '/var/run/libvirt/libvirt-sock': Connection refused",
		 "libvirtd is not running; start it with: ", VIR_ERR_SYSTEM_ERROR,
		 LAB_ERR_UNAVAILABLE},
		{"Failed to connect socket to '/var/run/libvirt/libvirt-sock': Permission denied",
		 "group libvirt", VIR_ERR_SYSTEM_ERROR, LAB_ERR_UNAVAILABLE},
		{"authentication unavailable: no polkit agent available", "qemu:///session",
		 VIR_ERR_AUTH_UNAVAILABLE, LAB_ERR_UNAVAILABLE},
		{"two\nlines", "libvirt: two lines", VIR_ERR_INTERNAL_ERROR, LAB_ERR_FAILED},
		{"no domain with matching name", "no domain", VIR_ERR_NO_DOMAIN, LAB_ERR_NOT_FOUND},
		{NULL, "no reason given", 0, LAB_ERR_FAILED},
	};
	char text[400];

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(rows); i++) {
		assert_int_equal(virt_explain(rows[i].code, rows[i].message, text, sizeof(text)),
				 rows[i].kind);
		if (!strstr(text, rows[i].words))
			fail_msg("'%s' is not in '%s'", rows[i].words, text);
	}
}

static void test_shutdown_reasons(void **state)
{
	char text[200];

	(void)state;
	assert_int_equal(vm_stop_of_shutdown("{\"guest\":true,\"reason\":\"guest-shutdown\"}", text,
					     sizeof(text)),
			 MACHINE_SHUTDOWN);
	assert_int_equal(vm_stop_of_shutdown("{\"guest\":true,\"reason\":\"guest-reset\"}", text,
					     sizeof(text)),
			 MACHINE_REBOOT);
	assert_int_equal(vm_stop_of_shutdown("{\"guest\":true,\"reason\":\"guest-panic\"}", text,
					     sizeof(text)),
			 MACHINE_CRASHED);
	assert_int_equal(vm_stop_of_shutdown("{\"guest\":false,\"reason\":\"host-signal\"}", text,
					     sizeof(text)),
			 MACHINE_LOST);
	assert_non_null(strstr(text, "host-signal"));
	assert_int_equal(vm_stop_of_shutdown(NULL, text, sizeof(text)), MACHINE_SHUTDOWN);
	assert_int_equal(vm_stop_of_shutdown("not json", text, sizeof(text)), MACHINE_SHUTDOWN);
}

static void test_process(void **state)
{
	uint64_t started = process_started(getpid());
	uid_t uid = 12345;
	pid_t child;
	siginfo_t info;

	(void)state;
	assert_true(started > 0);
	assert_true(process_is(getpid(), started));
	assert_false(process_is(getpid(), started + 1));
	assert_false(process_is(0, 0));
	assert_int_equal(process_user(getpid(), &uid), 0);
	assert_int_equal(uid, geteuid());
	assert_false(process_runs(getpid(), "/usr/bin/qemu-system-x86_64"));
	child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	/* A zombie runs nothing any more. */
	assert_int_equal(process_started(child), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(process_user(child, &uid), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domains), cmocka_unit_test(test_destroy),
		cmocka_unit_test(test_info),	cmocka_unit_test(test_no_daemon),
		cmocka_unit_test(test_explain), cmocka_unit_test(test_shutdown_reasons),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests_name("vmctl hypervisor", tests, NULL, NULL);
}
