/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "vmctl/ownership.h"

struct fixture {
	char dir[64]; /* mode 755, DIR/shut mode 700, both with a file of mode 644 */
	char open_file[128], shut[128], shut_file[160];
	struct vm_owner other; /* a user that is not us */
	struct vm_owner us;
};

static int set_up(void **state)
{
	struct fixture *f = LAB_NEW(struct fixture);
	const struct passwd *nobody = getpwnam("nobody");
	struct lab_error err;

	assert_non_null(nobody);
	f->other = (struct vm_owner){nobody->pw_uid, nobody->pw_gid, "nobody"};
	f->us = (struct vm_owner){geteuid(), getegid(), "me"};
	snprintf(f->dir, sizeof(f->dir), "/tmp/labctl-owner-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(chmod(f->dir, 0755), 0);
	snprintf(f->open_file, sizeof(f->open_file), "%s/file", f->dir);
	snprintf(f->shut, sizeof(f->shut), "%s/shut", f->dir);
	snprintf(f->shut_file, sizeof(f->shut_file), "%s/file", f->shut);
	assert_int_equal(mkdir(f->shut, 0700), 0);
	assert_int_equal(lab_write_file(f->open_file, "x", 1, 0644, &err), 0);
	assert_int_equal(lab_write_file(f->shut_file, "x", 1, 0644, &err), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	struct lab_error err;

	assert_int_equal(lab_remove_tree(f->dir, &err), 0);
	free(f);
	return 0;
}

static void test_reach(void **state)
{
	struct fixture *f = *state;
	struct lab_error err = {0};

	assert_int_equal(ownership_check(&f->us, f->shut_file, true, &err), 0);
	assert_int_equal(ownership_check(&f->other, f->open_file, false, &err), 0);
	assert_int_equal(ownership_check(&f->other, f->open_file, true, &err), -1);
	assert_non_null(strstr(err.text, "may not write"));
	assert_int_equal(ownership_check(&f->other, f->shut_file, false, &err), -1);
	/* Names the directory that is in the way, not the file, and what helps. */
	assert_non_null(strstr(err.text, "QEMU runs as nobody, who may not enter "));
	assert_non_null(strstr(err.text, f->shut));
	assert_non_null(strstr(err.text, "mode 0700"));
	assert_non_null(strstr(err.text, "setfacl -m u:nobody:x "));
	assert_int_equal(chmod(f->open_file, 0600), 0);
	assert_int_equal(ownership_check(&f->other, f->open_file, false, &err), -1);
	assert_non_null(strstr(err.text, "may not read"));
}

static void test_link(void **state)
{
	struct fixture *f = *state;
	LAB_CLEANUP(free) char *link = lab_asprintf("%s/link", f->dir);
	struct lab_error err = {0};

	/* It is the directory behind the link that counts. */
	assert_int_equal(symlink(f->shut, link), 0);
	LAB_CLEANUP(free) char *through = lab_asprintf("%s/file", link);
	assert_int_equal(ownership_check(&f->other, through, false, &err), -1);
	assert_non_null(strstr(err.text, f->shut));
	assert_int_equal(ownership_check(&f->other, "/no/such/file", false, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
}

static void test_give(void **state)
{
	struct fixture *f = *state;
	struct lab_error err = {0};
	struct stat st;

	assert_int_equal(ownership_give(&f->us, f->open_file, &err), 0);
	if (geteuid() != 0) {
		assert_int_equal(ownership_give(&f->other, f->open_file, &err), -1);
		assert_non_null(strstr(err.text, "only root can give"));
		assert_non_null(strstr(err.text, "qemu:///session"));
		return;
	}
	assert_int_equal(ownership_give(&f->other, f->shut, &err), 0);
	assert_int_equal(ownership_give(&f->other, f->shut_file, &err), 0);
	assert_int_equal(stat(f->shut_file, &st), 0);
	assert_int_equal(st.st_uid, f->other.uid);
	assert_int_equal(st.st_gid, f->other.gid);
	assert_int_equal(ownership_check(&f->other, f->shut_file, true, &err), 0);
}

/* A link in a run directory must not let the guest's user have another file. */
static void test_give_link(void **state)
{
	struct fixture *f = *state;
	LAB_CLEANUP(free) char *link = lab_asprintf("%s/link", f->dir);
	struct lab_error err = {0};
	struct stat st;

	assert_int_equal(symlink(f->open_file, link), 0);
	assert_int_equal(ownership_give(&f->other, link, &err), -1);
	assert_int_equal(stat(f->open_file, &st), 0);
	assert_int_equal(st.st_uid, geteuid());
}

static void test_fifo(void **state)
{
	struct fixture *f = *state;
	LAB_CLEANUP(free) char *fifo = lab_asprintf("%s/fifo", f->dir);
	struct lab_error err = {0};

	assert_int_equal(mkfifo(fifo, 0600), 0);
	/* Must not wait for somebody at the other end. */
	if (geteuid() == 0)
		assert_int_equal(ownership_give(&f->other, fifo, &err), 0);
}

static void test_root(void **state)
{
	const struct vm_owner root = {0, 0, "root"}, other = {64055, 64055, "libvirt-qemu"};
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(ownership_check_user(&other, "qemu:///system", &err), 0);
	assert_int_equal(ownership_check_user(&root, "qemu:///system", &err), -1);
	assert_non_null(strstr(err.text, "/etc/libvirt/qemu.conf"));
	assert_int_equal(ownership_check_user(&root, "qemu:///session", &err), -1);
	assert_non_null(strstr(err.text, "--connect qemu:///system"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reach, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_link, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_give, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_give_link, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fifo, set_up, tear_down),
		cmocka_unit_test(test_root),
	};

	return cmocka_run_group_tests_name("vmctl ownership", tests, NULL, NULL);
}
