/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "images/bootstrap.h"
#include "images/image.h"
#include "images/recipe.h"

#define HEAD "suite: bookworm\nsize: 1 GiB\n"

static const struct {
	const char *text;
	const char *error;
} bad_recipes[] = {
	{"size: 1 GiB\n", "r.yaml:1:1: 'suite' is missing"},
	{"suite: bookworm\n", "r.yaml:1:1: 'size' is missing"},
	{"suite: bookworm\nsize: 1 MiB\n", "r.yaml:2:7: 'size' must be at least 256 MiB"},
	{"suite: bookworm\nsize: 536870913\n", "r.yaml:2:7: 'size' must be a multiple of 4096"},
	{"suite: a b\nsize: 1 GiB\n", "r.yaml:1:8: suite 'a b' has a ' ' in it"},
	{"suite: --help\nsize: 1 GiB\n", "r.yaml:1:8: suite '--help' begins with '-'"},
	{HEAD "package: [a]\n", "r.yaml:3:1: unknown key 'package'; did you mean 'packages'?"},
	{HEAD "variant: esential\n",
	 "r.yaml:3:10: 'variant' cannot be 'esential'; did you mean 'essential'?"},
	{HEAD "packages:\n- a,b\n", "r.yaml:4:3: package 'a,b' has a ',' in it"},
	{HEAD "packages:\n- rt-tests\n- ''\n", "r.yaml:5:3: package is empty"},
	{HEAD "packages: -x\n", "r.yaml:3:11: package '-x' begins with '-'"},
	{HEAD "exclude: ['/usr/$x']\n", "r.yaml:3:11: pattern '/usr/$x' has a '$' in it"},
	{HEAD "files:\n- path: etc/x\n  content: y\n",
	 "r.yaml:4:9: 'path' must be the absolute path of a file, not 'etc/x'"},
	{HEAD "files:\n- path: /etc/\n  content: y\n",
	 "r.yaml:4:9: 'path' must be the absolute path of a file, not '/etc/'"},
	{HEAD "files:\n- path: /etc/../x\n  content: y\n",
	 "r.yaml:4:9: 'path' goes through '.' or '..': /etc/../x"},
	{HEAD "files:\n- path: /a'b\n  content: y\n",
	 "r.yaml:4:9: 'path' has a blank, quote or wildcard in it: /a'b"},
	{HEAD "files:\n- path: /x\n", "r.yaml:4:3: 'content' is missing"},
	{HEAD "files:\n- path: /x\n  content: y\n  mode: 0888\n",
	 "r.yaml:6:9: 'mode' must be three or four octal digits, not '0888'"},
	{HEAD "files:\n- {path: /x, content: y}\n- {path: /x, content: z}\n",
	 "r.yaml:5:3: file /x is given twice"},
	{HEAD "commands: [ls]\n", "r.yaml:3:12: a command is a list of its words: [ls, ...]"},
	{HEAD "commands: [['', x]]\n", "r.yaml:3:12: the name of the command is empty"},
	{HEAD "commands: ls\n", "r.yaml:3:11: 'commands' must be a list, not 'ls'"},
	{"suite: [\n", "r.yaml:2:1: "},
};

static void test_bad_recipes(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(bad_recipes); i++) {
		struct recipe *recipe = NULL;
		struct lab_error err = {0};
		const char *text = bad_recipes[i].text;

		assert_int_equal(recipe_parse("r.yaml", text, strlen(text), &recipe, &err), -1);
		assert_null(recipe);
		if (strncmp(err.text, bad_recipes[i].error, strlen(bad_recipes[i].error)) != 0)
			assert_string_equal(err.text, bad_recipes[i].error);
	}
}

static const char whole[] = "suite: bookworm\n"
			    "variant: minbase\n"
			    "size: 512 MiB\n"
			    "packages: [rt-tests, procps]\n"
			    "exclude: [/usr/share/man/*]\n"
			    "files:\n"
			    "- path: /etc/labctl/note\n"
			    "  mode: \"0600\"\n"
			    "  content: |\n"
			    "    it's a note\n"
			    "commands:\n"
			    "- [echo, \"it's $HOME; ls\", '']\n";

static struct recipe *parse(const char *text)
{
	struct recipe *recipe = NULL;
	struct lab_error err = {0};

	if (recipe_parse("dir/demo.yaml", text, strlen(text), &recipe, &err) < 0)
		fail_msg("%s", err.text);
	return recipe;
}

static void test_whole(void **state)
{
	LAB_CLEANUP(recipe) struct recipe *recipe = parse(whole);

	(void)state;
	assert_string_equal(recipe->name, "demo");
	assert_string_equal(recipe->suite, "bookworm");
	assert_string_equal(recipe->variant, "minbase");
	assert_true(recipe->bytes == 512 << 20);
	assert_int_equal(recipe->packages.n, 2);
	assert_int_equal(recipe->n_files, 1);
	assert_int_equal(recipe->files[0].mode, 0600);
	assert_string_equal(recipe->files[0].content, "it's a note\n");
	assert_int_equal(recipe->n_commands, 1);
	assert_int_equal(recipe->commands[0].n, 3);
	assert_string_equal(recipe->commands[0].items[2], "");
}

/* The argument vector of mmdebstrap is pure: nothing of the recipe reaches a shell unquoted. */
static void test_argv(void **state)
{
	static const char *const front[] = {"unshare", "--user", NULL};
	static const struct bootstrap_mode mode = {"userns", front, "root"};
	static const char *const wanted[] = {
		"unshare",
		"--user",
		"mmdebstrap",
		"--mode=root",
		"--format=tar",
		"--variant=minbase",
		"--include=rt-tests,procps",
		"--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-include=/usr/share/doc/*/copyright",
		"--customize-hook=chroot \"$1\" 'mkdir' '-p' '/etc/labctl/'",
		"--customize-hook=upload '/a '\\''lab/file-0' '/etc/labctl/note'",
		"--customize-hook=chroot \"$1\" 'chown' '0:0' '/etc/labctl/note'",
		"--customize-hook=chroot \"$1\" 'chmod' '0600' '/etc/labctl/note'",
		"--customize-hook=chroot \"$1\" 'echo' 'it'\\''s $HOME; ls' ''",
		("--customize-hook=chroot \"$1\" dpkg-query -W -f "
		 "'${Package}\\t${Version}\\t${Architecture}\\n' > '/a '\\''lab/packages.tsv'"),
		"bookworm",
		"/a 'lab/root.tar",
	};
	LAB_CLEANUP(recipe) struct recipe *recipe = parse(whole);
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;
	const struct bootstrap bootstrap = {.recipe = recipe, .mode = &mode, .dir = "/a 'lab"};

	(void)state;
	bootstrap_argv(&bootstrap, &argv);
	for (size_t i = 0; i < LAB_COUNT(wanted) && i < argv.n; i++)
		assert_string_equal(argv.items[i], wanted[i]);
	assert_int_equal(argv.n, LAB_COUNT(wanted));
}

static void hash_of(const char *text, char out[HASH_HEX])
{
	LAB_CLEANUP(recipe) struct recipe *recipe = parse(text);

	recipe_hash(recipe, out);
}

static void test_hash(void **state)
{
	static const char *const others[] = {
		"suite: trixie\nsize: 1 GiB\npackages: [a, b]\n",
		"suite: bookworm\nsize: 2 GiB\npackages: [a, b]\n",
		"suite: bookworm\nsize: 1 GiB\npackages: [b, a]\n",
		"suite: bookworm\nsize: 1 GiB\npackages: [ab]\n",
		"suite: bookworm\nsize: 1 GiB\npackages: [a, b]\nexclude: [/x]\n",
		"suite: bookworm\nsize: 1 GiB\npackages: [a, b]\nvariant: apt\n",
		"suite: bookworm\nsize: 1 GiB\npackages: [a, b]\nfiles: [{path: /a, content: b}]\n",
		"suite: bookworm\nsize: 1 GiB\npackages: [a, b]\ncommands: [[a, b]]\n",
		"suite: bookworm\nsize: 1 GiB\npackages: [a, b]\ncommands: [[a], [b]]\n",
	};
	char hashes[LAB_COUNT(others) + 1][HASH_HEX], again[HASH_HEX];
	size_t n = 0;

	(void)state;
	hash_of("suite: bookworm\nsize: 1 GiB\npackages: [a, b]\n", hashes[n++]);
	/* Layout, comments and order of keys are not content. */
	hash_of("# note\nsize: 1024 MiB\npackages:\n- a\n- b\nsuite: 'bookworm'\nfiles: []\n",
		again);
	assert_string_equal(hashes[0], again);
	for (size_t i = 0; i < LAB_COUNT(others); i++)
		hash_of(others[i], hashes[n++]);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(hashes[i], hashes[j]);
	}
}

/* The recipes that are shipped. */
static void test_shipped(void **state)
{
	LAB_CLEANUP(recipe) struct recipe *recipe = NULL;
	struct lab_error err = {0};
	char key[HASH_HEX], same[HASH_HEX];

	(void)state;
	if (recipe_load("images/recipes/debian.yaml", &recipe, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(recipe->name, "debian");
	assert_true(lab_strv_has(&recipe->packages, "rt-tests"));
	assert_int_equal(image_key("images/recipes/debian.yaml", key, &err), 0);
	assert_int_equal(image_key("images/recipes/debian.yaml", same, &err), 0);
	assert_string_equal(key, same);
	assert_int_equal(image_key("images/recipes/missing.yaml", key, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_recipes), cmocka_unit_test(test_whole),
		cmocka_unit_test(test_argv),	    cmocka_unit_test(test_hash),
		cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
