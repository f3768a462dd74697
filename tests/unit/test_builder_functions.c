/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nm says of a kernel's archives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "builder/functions.h"

static void test_parse(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf names = LAB_BUF_INIT;

	(void)state;
	functions_parse("vmlinux.a:mm/slub.o:0000000000003ec0 T kmem_cache_alloc\n"
			"vmlinux.a:mm/slub.o:0000000000000000 t new_slab.isra.0\n"
			"vmlinux.a:mm/slub.o:0000000000000040 t new_slab.cold\n"
			"vmlinux.a:mm/slub.o:0000000000000040 d slab_state\n"
			"vmlinux.a:kernel/sched/core.o:0000000000000000 W arch_thing\n"
			"lib/lib.a:rbtree.o:0000000000000000 T rb_next\n"
			"arch/x86/lib/lib.a:memcpy_64.o:0000000000000000 T memcpy\n"
			"vmlinux.a:init.o:0000000000000000 T at_top\n"
			"nm: lib/none.o: no symbols\n"
			"odd\n",
			&names);
	assert_string_equal(names.data, "arch_thing\tkernel/sched\n"
					"at_top\t\n"
					"kmem_cache_alloc\tmm\n"
					"memcpy\tarch/x86/lib\n"
					"new_slab\tmm\n"
					"rb_next\tlib\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
