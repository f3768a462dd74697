/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "config/doc.h"

struct bad_text {
	const char *text;
	size_t len; /* 0: strlen */
	const char *error;
};

/* Every complaint of the reader: text, line and column are what a person sees. */
static const struct bad_text bad_texts[] = {
	{"", 0, "f.yaml:1:1: there is nothing in this file"},
	{"# only a comment\n", 0, "f.yaml:1:1: there is nothing in this file"},
	{"---\n", 0, "f.yaml:1:1: there is nothing in this file"},
	{"~\n", 0, "f.yaml:1:1: there is nothing in this file"},
	{"a: 1\n---\nb: 2\n", 0, "f.yaml:2:1: a second document begins; one file holds one"},
	{"a: 1\n...\nb: 2\n", 0, "f.yaml:3:1: a second document begins; one file holds one"},
	{"a: 1\nb: 2\na: 3\n", 0, "f.yaml:3:1: 'a' is given twice, first on line 1"},
	{"x:\n  - {k: 1, k: 2}\n", 0, "f.yaml:2:12: 'k' is given twice, first on line 2"},
	{"a: &x 1\n", 0, "f.yaml:1:7: anchors and aliases (& and *) are not used here"},
	{"a: *x\n", 0, "f.yaml:1:5: anchors and aliases (& and *) are not used here"},
	{"a: !!int 3\n", 0, "f.yaml:1:10: tags (!) are not used here"},
	{"? [x]\n: 1\n", 0, "f.yaml:1:3: a key must be a text"},
	{"a:\n  : 1\n", 0, "f.yaml:2:3: a key must be a text"},
	{"a: [1,\nb: 2\n", 0, "f.yaml:2:1: wrongly indented flow sequence"},
	{"a: b: c\n", 0, "f.yaml:1:5: invalid nested block mapping on the same line"},
	{"a: \"open\n", 0, "f.yaml:1:5: double-quoted scalar without closing quote"},
	{"a: @x\n", 0, "f.yaml:1:4: plain scalar cannot start with '@'"},
	{"a: 1\nb: \"\xff\"\n", 0, "f.yaml:2:5: not UTF-8 text"},
	{"\xff", 0, "f.yaml:1:1: not UTF-8 text"},
	{"a: \xc0\xaf\n", 0, "f.yaml:1:4: not UTF-8 text"},
	{"a: \xed\xa0\x80\n", 0, "f.yaml:1:4: not UTF-8 text"},
	{"a: 1\n\0b: 2\n", 11, "f.yaml:2:1: control character"},
	{"a: \x1b[1m\n", 0, "f.yaml:1:4: control character"},
	{"a: \"x\\0y\"\n", 0, "f.yaml:1:5: zero byte in a text"},
};

static void test_bad_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(bad_texts); i++) {
		const struct bad_text *bad = &bad_texts[i];
		struct config_doc *doc = NULL;
		struct lab_error err = {0};

		assert_int_equal(config_doc_parse("f.yaml", bad->text,
						  bad->len ? bad->len : strlen(bad->text), &doc,
						  &err),
				 -1);
		assert_null(doc);
		assert_int_equal(err.kind, LAB_ERR_INVALID);
		if (strncmp(err.text, bad->error, strlen(bad->error)) != 0)
			assert_string_equal(err.text, bad->error);
	}
}

static void test_depth(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct config_doc *doc = NULL;
	struct lab_error err = {0};

	(void)state;
	for (int i = 0; i < 60; i++)
		lab_buf_addc(&text, '[');
	for (int i = 0; i < 60; i++)
		lab_buf_addc(&text, ']');
	assert_int_equal(config_doc_parse("deep", text.data, text.len, &doc, &err), -1);
	assert_string_equal(err.text, "deep:1:33: nested too deeply");
	/* Past the library's own limit too. */
	text.len = 0;
	for (int i = 0; i < 5000; i++)
		lab_buf_addc(&text, '[');
	assert_int_equal(config_doc_parse("deep", text.data, text.len, &doc, &err), -1);
}

static void test_values(void **state)
{
	static const char text[] = "# comment\n"
				   "name: slab\n"
				   "quoted: \"64\"\n"
				   "none:\n"
				   "list:\n"
				   "- one\n"
				   "- two: 2\n"
				   "block: |\n"
				   "  a\n"
				   "  b\n"
				   "folded: >-\n"
				   "  c\n"
				   "  d\n"
				   "umlaut: \xc3\xbc\n"
				   "flow: {a: [1, 2], b: ''}\n";
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;
	const struct config_node *root, *node;
	struct lab_error err = {0};
	const char *key = NULL;

	(void)state;
	assert_int_equal(config_doc_parse("f", text, sizeof(text) - 1, &doc, &err), 0);
	root = config_doc_root(doc);
	assert_int_equal(config_node_kind(root), CONFIG_MAPPING);
	assert_int_equal(config_len(root), 8);
	assert_string_equal(config_str(config_map_get(root, "name")), "slab");
	assert_true(config_is_plain(config_map_get(root, "name")));
	assert_false(config_is_plain(config_map_get(root, "quoted")));
	assert_true(config_is_null(config_map_get(root, "none")));
	assert_int_equal(config_line(config_map_get(root, "none")), 4);
	assert_string_equal(config_str(config_map_get(root, "block")), "a\nb\n");
	assert_string_equal(config_str(config_map_get(root, "folded")), "c d");
	assert_string_equal(config_str(config_map_get(root, "umlaut")), "\xc3\xbc");
	assert_null(config_map_get(root, "missing"));
	assert_null(config_str(root));
	node = config_map_get(root, "list");
	assert_int_equal(config_len(node), 2);
	assert_string_equal(config_str(config_seq_at(node, 0)), "one");
	assert_null(config_seq_at(node, 2));
	node = config_map_at(config_seq_at(node, 1), 0, &key);
	assert_string_equal(key, "two");
	assert_int_equal(config_line(node), 7);
	assert_int_equal(config_column(node), 8);
	node = config_map_get(config_map_get(root, "flow"), "b");
	assert_string_equal(config_str(node), "");
	assert_false(config_is_null(node));
	assert_int_equal(config_error(node, &err, "odd %s", "thing"), -1);
	assert_string_equal(err.text, "f:15:22: odd thing");
}

static void test_files(void **state)
{
	char path[] = "/tmp/labctl-config-XXXXXX";
	LAB_CLEANUP(fd) int fd = mkstemp(path);
	LAB_CLEANUP(buf) struct lab_buf big = LAB_BUF_INIT;
	LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;
	struct lab_error err = {0};

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(lab_write_all(fd, "a: [", 4, &err), 0);
	assert_int_equal(config_doc_load(path, &doc, &err), -1);
	assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
	assert_non_null(strstr(err.text, ":1:"));
	assert_int_equal(lab_write_all(fd, "1]\n", 3, &err), 0);
	assert_int_equal(config_doc_load(path, &doc, &err), 0);
	assert_string_equal(config_doc_name(doc), path);
	while (big.len <= CONFIG_DOC_MAX)
		lab_buf_adds(&big, "# filler filler filler filler\n");
	assert_int_equal(lab_write_all(fd, big.data, big.len, &err), 0);
	config_doc_free(LAB_TAKE(doc));
	assert_int_equal(config_doc_load(path, &doc, &err), -1);
	assert_non_null(strstr(err.text, "is larger than 1048576 bytes"));
	unlink(path);
	assert_int_equal(config_doc_load(path, &doc, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "No such file"));
}

/* Nothing of the library's own may reach stderr. */
static void test_silence(void **state)
{
	int pipes[2], saved = dup(2);
	struct config_doc *doc = NULL;
	struct lab_error err = {0};
	char text[200] = "";
	ssize_t n;

	(void)state;
	assert_true(saved >= 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(dup2(pipes[1], 2), 2);
	for (size_t i = 0; i < LAB_COUNT(bad_texts); i++)
		assert_int_equal(config_doc_parse("f", bad_texts[i].text, strlen(bad_texts[i].text),
						  &doc, &err),
				 i == 21 ? 0 : -1); /* the one whose error is a zero byte */
	if (doc)
		config_doc_free(doc);
	assert_int_equal(dup2(saved, 2), 2);
	close(saved);
	close(pipes[1]);
	n = read(pipes[0], text, sizeof(text) - 1);
	close(pipes[0]);
	if (n != 0)
		fail_msg("written to stderr: %s", text);
}

/* What the fuzzer starts from and has found: each is read or refused, at a place in it. */
static void test_corpus(void **state)
{
	static const char path[] = "tests/fuzz/corpus/config";
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned read = 0, refused = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *file = lab_path_join(path, entry->d_name);
		LAB_CLEANUP(config_doc) struct config_doc *doc = NULL;
		struct lab_error err = {0};

		if (entry->d_name[0] == '.')
			continue;
		if (config_doc_load(file, &doc, &err) == 0) {
			read++;
			continue;
		}
		assert_int_equal(err.kind, LAB_ERR_INVALID);
		assert_int_equal(strncmp(err.text, file, strlen(file)), 0);
		refused++;
	}
	assert_int_equal(read, 2);
	assert_int_equal(refused, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_texts), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_values),	  cmocka_unit_test(test_files),
		cmocka_unit_test(test_silence),	  cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
