/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "builder/digest.h"
#include "builder/elf_notes.h"
#include "builder/kbuild.h"
#include "common/mem.h"
#include "common/proc.h"

static struct lab_error err;

static void assert_digest(const char *log, const char *want)
{
	LAB_CLEANUP(free) char *got = digest_failure(log, "/lab/work/x/tree", "/lab/work/x/obj");

	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static void test_compiler(void **state)
{
	(void)state;
	assert_digest("  CC      mm/slub.o\n"
		      "../tree/mm/slub.c: In function 'f':\n"
		      "../tree/mm/slub.c:12:5: warning: unused variable 'y'\n"
		      "../tree/mm/slub.c:14:9: error: 'x' undeclared\n"
		      "../tree/mm/page.c:1:1: error: second\n"
		      "make[2]: *** [../tree/scripts/Makefile.build:250: mm/slub.o] Error 1\n",
		      "mm/slub.c:14:9: error: 'x' undeclared");
	assert_digest("/lab/work/x/tree/mm/a.c:1:1: error: no\n", "mm/a.c:1:1: error: no");
	assert_digest("/lab/work/x/obj/a.S:7: Error: no such instruction: `foo'\n",
		      "a.S:7: Error: no such instruction: `foo'");
}

static void test_missing_tools_and_headers(void **state)
{
	(void)state;
	assert_digest("  LEX     scripts/kconfig/lexer.lex.c\n"
		      "/bin/sh: 1: flex: not found\n"
		      "make[2]: *** [scripts/Makefile.host:9: lexer.lex.c] Error 127\n",
		      "'flex' is not installed (apt-get install flex)");
	assert_digest("/bin/sh: 1: bc: not found\n", "'bc' is not installed (apt-get install bc)");
	assert_digest("/bin/sh: 1: rustc-frob: not found\n", "'rustc-frob' is not installed");
	assert_digest("make[1]: bison: No such file or directory\n",
		      "'bison' is not installed (apt-get install bison)");
	assert_digest("../tree/tools/objtool/elf.c:7:10: fatal error: gelf.h: No such file or "
		      "directory\n",
		      "tools/objtool/elf.c:7:10: fatal error: gelf.h: No such file or directory "
		      "(apt-get install libelf-dev)");
	assert_digest(
		"scripts/sign.c:3:10: fatal error: openssl/bio.h: No such file or directory\n",
		"scripts/sign.c:3:10: fatal error: openssl/bio.h: No such file or directory "
		"(apt-get install libssl-dev)");
}

static void test_kconfig_link_and_make(void **state)
{
	(void)state;
	assert_digest("init/Kconfig:3:warning: ignored\nmm/Kconfig:12: syntax error\n",
		      "mm/Kconfig:12: syntax error");
	assert_digest("ld: mm/slub.o: in function `f':\nslub.c:(.text+0x1): undefined reference to "
		      "`g'\n",
		      "slub.c:(.text+0x1): undefined reference to `g'");
	assert_digest("ERROR: modpost: \"g\" [a.ko] undefined!\n",
		      "ERROR: modpost: \"g\" [a.ko] undefined!");
	assert_digest("make[1]: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.\n",
		      "make[1]: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.");
	/* Only when nothing says more: what make says of its own rule. */
	assert_digest("make[1]: *** [Makefile:3: vmlinux] Error 1\n",
		      "[Makefile:3: vmlinux] Error 1");
}

static void test_no_error(void **state)
{
	(void)state;
	assert_digest("", NULL);
	assert_digest("  CC      lib/error.o\nwarning: 0 errors\nmm/a.c:1:2: warning: error\n",
		      NULL);
}

static void test_steps(void **state)
{
	(void)state;
	assert_string_equal(kbuild_step("  CC      mm/slub.o"), "mm/slub.o");
	assert_string_equal(kbuild_step("  AS      arch/x86/entry.o"), "arch/x86/entry.o");
	assert_string_equal(kbuild_step("  CC [M]  fs/a.o"), "fs/a.o");
	assert_null(kbuild_step("  LD      vmlinux"));
	assert_null(kbuild_step("  CCX     a"));
	assert_null(kbuild_step("CC a.o"));
	assert_null(kbuild_step("  CC      "));
	assert_null(kbuild_step(""));
}

static const struct workspace ws = {(char *)"/lab/work/x", (char *)"/lab/work/x/tree",
				    (char *)"/lab/work/x/obj", false};

static void test_arguments(void **state)
{
	const struct kbuild k = {.ws = &ws, .jobs = 3, .ccache = true};
	const char *const goals[] = {"all", NULL};
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *line = NULL;

	(void)state;
	kbuild_arguments(&k, goals, &argv);
	line = lab_strv_join(&argv, "|");
	assert_string_equal(line, "make|-j3|-C|/lab/work/x/tree|O=/lab/work/x/obj|LOCALVERSION=|"
				  "CC=ccache gcc|all");
}

/* Nothing of the caller's environment but the few variables that name places. */
static void test_environment(void **state)
{
	const struct kbuild k = {.ws = &ws, .jobs = 1};
	LAB_CLEANUP(strv) struct lab_strv env = LAB_STRV_INIT;

	(void)state;
	setenv("MAKEFLAGS", "-k", 1);
	setenv("KBUILD_BUILD_USER", "somebody", 1);
	setenv("CFLAGS", "-O0", 1);
	setenv("HOME", "/home/of/test", 1);
	kbuild_environment(&k, &env);
	unsetenv("MAKEFLAGS");
	unsetenv("KBUILD_BUILD_USER");
	unsetenv("CFLAGS");
	assert_true(lab_strv_has(&env, "HOME=/home/of/test"));
	assert_true(lab_strv_has(&env, "LC_ALL=C"));
	assert_true(lab_strv_has(&env, "KBUILD_BUILD_USER=labctl"));
	assert_true(lab_strv_has(&env, "LABCTL_BUILD=/lab/work/x/obj"));
	for (size_t i = 0; i < env.n; i++) {
		assert_false(lab_starts_with(env.items[i], "MAKEFLAGS="));
		assert_false(lab_starts_with(env.items[i], "CFLAGS="));
		assert_false(lab_starts_with(env.items[i], "CCACHE_STATSLOG="));
		assert_string_not_equal(env.items[i], "KBUILD_BUILD_USER=somebody");
	}
}

/* Against readelf, on the test's own program. */
static void test_build_id(void **state)
{
	char name[] = "/tmp/labctl-test-XXXXXX";
	int fd = mkstemp(name);
	const char *argv[] = {
		"sh", "-euc",
		"echo 'int _start(void) { return 0; }' | gcc -x c - -nostdlib -static "
		"-Wl,--build-id=sha1 -o \"$0\"; readelf -n \"$0\" | "
		"sed -n 's/.*Build ID: //p' | tr -d '\\n'",
		name, NULL};
	struct lab_proc proc = {.argv = argv};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	LAB_CLEANUP(free) char *id = NULL;

	(void)state;
	close(fd);
	assert_int_equal(lab_proc_must(&proc, &result, &err), 0);
	assert_int_equal(elf_build_id(name, &id, &err), 0);
	assert_string_equal(id, result.out.data);
	assert_int_equal(strlen(id), 40);
	assert_int_equal(elf_build_id("/bin/sh/none", &id, &err), -1);
	assert_int_equal(elf_build_id("Makefile", &id, &err), -1);
	assert_int_equal(truncate(name, 200), 0);
	assert_int_equal(elf_build_id(name, &id, &err), -1);
	unlink(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compiler),
		cmocka_unit_test(test_missing_tools_and_headers),
		cmocka_unit_test(test_kconfig_link_and_make),
		cmocka_unit_test(test_no_error),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_build_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
