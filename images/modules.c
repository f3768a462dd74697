/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/modules.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"
#include "images/initramfs.h"

enum { TABLE_MAX = 64 << 20 };

/* In the order of loading, apart from what depends on what. */
static const struct {
	const char *name;
	const char *what_for; /* NULL: loaded where there is one, not missed where there is none */
} needed[] = {
	{"virtio_pci", "the agent's channel"},
	{"virtio_console", "the agent's channel"},
	{"virtio_blk", "the root disk"},
	{"nvme", "data and swap disks"},
	/* Asked for by ext4 under a name that only modprobe resolves; in the kernel's lib since 6.14. */
	{"crc32c_generic", NULL},
	{"ext4", "the root file system"},
	{"pvpanic_mmio", NULL}, /* also the one behind the ISA device's ACPI name */
	/* The disks of the exact target, where there are none otherwise. */
	{"nfit", NULL},
	{"nd_pmem", NULL},
	{"dm_delay", NULL},
};

/* One line of modules.dep. */
struct module {
	char *name;
	char *path; /* relative to the directory */
	struct lab_strv needs;
	bool done;
};

struct table {
	const char *dir;
	struct module *items;
	size_t n, cap;
	struct lab_strv builtin; /* names */
};

static void table_release(struct table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->items[i].name);
		free(table->items[i].path);
		lab_strv_release(&table->items[i].needs);
	}
	free(table->items);
	lab_strv_release(&table->builtin);
}

char *module_name(const char *path)
{
	const char *base = lab_path_base(path);
	const char *end = strstr(base, ".ko");
	char *name = lab_strndup(base, end ? (size_t)(end - base) : strlen(base));

	for (char *p = name; *p; p++) {
		if (*p == '-')
			*p = '_';
	}
	return name;
}

static int read_lines(const char *dir, const char *file, struct lab_strv *lines,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, file);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (lab_read_file(path, TABLE_MAX, &text, err) < 0)
		return -1;
	lab_strv_split(lines, text.data ? text.data : "", "\n");
	return 0;
}

/* "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko ..." */
static int add_line(struct table *table, const char *line, struct lab_error *err)
{
	const char *colon = strchr(line, ':');
	struct module *module;

	if (!colon)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s/modules.dep has a line without colon: %.80s", table->dir,
				     line);
	LAB_GROW(table->items, table->n, table->cap);
	module = &table->items[table->n++];
	*module = (struct module){.path = lab_strndup(line, (size_t)(colon - line))};
	module->name = module_name(module->path);
	lab_strv_split(&module->needs, colon + 1, " ");
	return 0;
}

static int table_read(struct table *table, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv builtin = LAB_STRV_INIT;

	if (read_lines(table->dir, "modules.dep", &lines, err) < 0 ||
	    read_lines(table->dir, "modules.builtin", &builtin, err) < 0)
		return -1;
	for (size_t i = 0; i < lines.n; i++) {
		if (add_line(table, lines.items[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < builtin.n; i++) {
		LAB_CLEANUP(free) char *name = module_name(builtin.items[i]);

		lab_strv_add(&table->builtin, name);
	}
	return 0;
}

static struct module *find(struct table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++) {
		if (strcmp(table->items[i].name, name) == 0)
			return &table->items[i];
	}
	return NULL;
}

/* What a module needs first, then itself; each once. */
static int add_module(struct table *table, struct module *module, struct lab_strv *files,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) char *file = lab_path_join(table->dir, module->path);

	if (module->done)
		return 0;
	module->done = true;
	for (size_t i = 0; i < module->needs.n; i++) {
		LAB_CLEANUP(free) char *name = module_name(module->needs.items[i]);
		struct module *other = find(table, name);

		if (!other)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "%s/modules.dep: %s needs %s, which it does not list",
					     table->dir, module->path, module->needs.items[i]);
		if (add_module(table, other, files, err) < 0)
			return -1;
	}
	if (!lab_file_exists(file))
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "%s/modules.dep lists %s, which is not there", table->dir,
				     module->path);
	lab_strv_add(files, file);
	return 0;
}

static int choose(struct table *table, struct lab_strv *files, struct lab_error *err)
{
	for (size_t i = 0; i < LAB_COUNT(needed); i++) {
		struct module *module = find(table, needed[i].name);

		if (lab_strv_has(&table->builtin, needed[i].name))
			continue;
		if (module) {
			if (add_module(table, module, files, err) < 0)
				return -1;
		} else if (needed[i].what_for) {
			return lab_error_set(
				err, LAB_ERR_NOT_FOUND,
				"the kernel of %s has no module %s, neither as a file nor "
				"built in; it is needed for %s",
				table->dir, needed[i].name, needed[i].what_for);
		}
	}
	return 0;
}

int initramfs_modules(const char *dir, struct lab_strv *ret_files, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv files = LAB_STRV_INIT;
	struct table table = {.dir = dir};
	int rc = table_read(&table, err);

	if (rc == 0)
		rc = choose(&table, &files, err);
	if (rc == 0) {
		*ret_files = files;
		files = (struct lab_strv)LAB_STRV_INIT;
	}
	table_release(&table);
	return rc;
}

static bool has_table(const char *dir)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "modules.dep");

	return lab_file_exists(path);
}

/* The one directory below `parent` with a modules.dep. */
static int only_release(const char *parent, char **ret_dir, struct lab_error *err)
{
	LAB_CLEANUP(dir) DIR *dir = opendir(parent);
	LAB_CLEANUP(free) char *found = NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		LAB_CLEANUP(free) char *path = lab_path_join(parent, entry->d_name);

		if (entry->d_name[0] == '.' || !has_table(path))
			continue;
		if (found)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "%s has modules of more than one kernel: %s and %s",
					     parent, lab_path_base(found), entry->d_name);
		found = LAB_TAKE(path);
	}
	*ret_dir = LAB_TAKE(found);
	return 0;
}

int modules_dir(const char *given, char **ret_dir, struct lab_error *err)
{
	static const char *const below[] = {"modules/lib/modules", "lib/modules", "modules"};

	if (!lab_dir_exists(given))
		return lab_error_errno(err, ENOENT, "modules of %s", given);
	if (has_table(given)) {
		*ret_dir = lab_strdup(given);
		return 0;
	}
	for (size_t i = 0; i < LAB_COUNT(below); i++) {
		LAB_CLEANUP(free) char *parent = lab_path_join(given, below[i]);
		char *dir = NULL;

		if (has_table(parent)) {
			*ret_dir = LAB_TAKE(parent);
			return 0;
		}
		if (only_release(parent, &dir, err) < 0)
			return -1;
		if (dir) {
			*ret_dir = dir;
			return 0;
		}
	}
	*ret_dir = NULL;
	return 0;
}
