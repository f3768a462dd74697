/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/initramfs.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/writer.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "images/modules.h"
#include "store/hash.h"

/* Goes up whenever the same inputs would give other bytes. */
#define FORMAT "1"

enum { MODULE_MAX = 64 << 20, APPENDED_MAX = 4 << 20, UNPACK_TIMEOUT_MS = 60000 };

static const char *const directories[] = {"dev", "proc", "sys", "run", "newroot", "modules"};

/* What the kernel opens for /init before anything is mounted, and what the agent logs to. */
static const struct {
	const char *path;
	unsigned major, minor;
} devices[] = {
	{"dev/console", 5, 1},
	{"dev/null", 1, 3},
	{"dev/kmsg", 1, 11},
};

/* The program that unpacks a module, NULL when it is not packed. */
static const char *unpacker(const char *path)
{
	if (lab_ends_with(path, ".xz"))
		return "xz";
	if (lab_ends_with(path, ".gz"))
		return "gzip";
	return lab_ends_with(path, ".zst") ? "zstd" : NULL;
}

static int add_packed(struct archive_writer *writer, const char *path, const char *file,
		      const char *program, struct lab_error *err)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const struct lab_proc proc = {
		.argv = (const char *const[]){program, "-dc", "--", file, NULL},
		.output_cap = MODULE_MAX,
		.timeout_ms = UNPACK_TIMEOUT_MS};

	if (lab_proc_must(&proc, &result, err) < 0)
		return lab_error_wrap(err, "unpack %s", file);
	if (result.out.len >= MODULE_MAX)
		return lab_error_set(err, LAB_ERR_INVALID, "unpacked, %s has more than %d bytes",
				     file, MODULE_MAX);
	return archive_writer_add_data(writer, path, 0644, result.out.data, result.out.len, err);
}

static int add_modules(struct archive_writer *writer, const struct lab_strv *files,
		       struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf list = LAB_BUF_INIT;

	for (size_t i = 0; i < files->n; i++) {
		const char *file = files->items[i];
		const char *program = unpacker(file);
		LAB_CLEANUP(free) char *name = module_name(file);
		LAB_CLEANUP(free) char *path = lab_asprintf("modules/%s.ko", name);
		int rc = program ? add_packed(writer, path, file, program, err)
				 : archive_writer_add_file(writer, path, 0644, file, err);

		if (rc < 0)
			return -1;
		lab_buf_addf(&list, "/%s\n", path);
	}
	return archive_writer_add_data(writer, "modules.list", 0644, list.data ? list.data : "",
				       list.len, err);
}

static int write_archive(const char *agent, const struct lab_strv *files, const char *path,
			 struct lab_error *err)
{
	LAB_CLEANUP(archive_writer) struct archive_writer *writer = NULL;

	if (archive_writer_new(path, ARCHIVE_CPIO_NEWC, &writer, err) < 0)
		return -1;
	for (size_t i = 0; i < LAB_COUNT(directories); i++) {
		if (archive_writer_add_dir(writer, directories[i], 0755, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < LAB_COUNT(devices); i++) {
		if (archive_writer_add_node(writer, devices[i].path, S_IFCHR | 0600,
					    devices[i].major, devices[i].minor, err) < 0)
			return -1;
	}
	if (archive_writer_add_file(writer, "init", 0755, agent, err) < 0 ||
	    add_modules(writer, files, err) < 0)
		return -1;
	return archive_writer_close(writer, err);
}

/* The files of the modules for `modules` as initramfs_ensure takes it, and their directory. */
static int find_modules(const char *modules, struct lab_strv *files, char **ret_dir,
			struct lab_error *err)
{
	LAB_CLEANUP(free) char *dir = NULL;

	if (!modules)
		return 0;
	if (modules_dir(modules, &dir, err) < 0 || (dir && initramfs_modules(dir, files, err) < 0))
		return -1;
	*ret_dir = LAB_TAKE(dir);
	return 0;
}

int initramfs_write(const char *agent, const char *modules, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv files = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *dir = NULL;

	if (find_modules(modules, &files, &dir, err) < 0 ||
	    write_archive(agent, &files, path, err) < 0)
		return lab_error_wrap(err, "initramfs");
	return 0;
}

static int write_one(const char *name, const char *text, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(archive_writer) struct archive_writer *writer = NULL;

	if (archive_writer_new(path, ARCHIVE_CPIO_NEWC, &writer, err) < 0 ||
	    archive_writer_add_data(writer, name, 0644, text, strlen(text), err) < 0)
		return -1;
	return archive_writer_close(writer, err);
}

static int append_file(const char *path, const char *more, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;
	LAB_CLEANUP(fd) int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	if (lab_read_file(more, APPENDED_MAX, &bytes, err) < 0)
		return -1;
	return lab_write_all(fd, bytes.data, bytes.len, err);
}

int initramfs_append(const char *base, const char *name, const char *text, const char *path,
		     struct lab_error *err)
{
	LAB_CLEANUP(free) char *more = lab_asprintf("%s.more", path);
	int rc = 0;

	if (write_one(name, text, more, err) < 0 || lab_copy_sparse(base, path, 0644, err) < 0 ||
	    append_file(path, more, err) < 0)
		rc = lab_error_wrap(err, "initramfs");
	unlink(more);
	return rc;
}

static int make_key(const char *agent, const struct lab_strv *files, char out[HASH_HEX],
		    char agent_hash[HASH_HEX], struct lab_error *err)
{
	LAB_CLEANUP(hash) struct hash *hash = hash_new();

	if (hash_file(agent, agent_hash, err) < 0)
		return -1;
	hash_add_field(hash, "initramfs format", FORMAT);
	hash_add_field(hash, "agent", agent_hash);
	for (size_t i = 0; i < files->n; i++) {
		if (hash_add_field_file(hash, lab_path_base(files->items[i]), files->items[i],
					err) < 0)
			return -1;
	}
	hash_hex(hash, out);
	return 0;
}

static char *make_manifest(const char *agent_hash, const char *dir, const struct lab_strv *files)
{
	json_t *names = json_array(), *manifest;
	char *text;

	for (size_t i = 0; i < files->n; i++) {
		LAB_CLEANUP(free) char *name = module_name(files->items[i]);

		json_array_append_new(names, json_string(name));
	}
	manifest = json_pack("{s:s, s:o, s:o}", "agent", agent_hash, "release",
			     dir ? json_string(lab_path_base(dir)) : json_null(), "modules", names);
	text = json_dumps(manifest, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(manifest);
	return text;
}

static int make(struct lab *lab, const char *agent, const struct lab_strv *files, const char *key,
		const char *manifest, struct artifact **ret, struct lab_error *err)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(free) char *path = NULL;

	if (artifact_begin(lab, ARTIFACT_INITRAMFS, key, &draft, err) < 0)
		return -1;
	path = lab_path_join(artifact_draft_dir(draft), INITRAMFS_FILE);
	if (write_archive(agent, files, path, err) < 0)
		return -1;
	return artifact_commit(draft, NULL, manifest, ret, err);
}

int initramfs_ensure(struct lab *lab, const char *agent, const char *modules,
		     struct artifact **ret_initramfs, bool *ret_cached, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv files = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *dir = NULL;
	LAB_CLEANUP(free) char *manifest = NULL;
	LAB_CLEANUP(artifact) struct artifact *found = NULL;
	char key[HASH_HEX], agent_hash[HASH_HEX];
	bool cached;

	if (find_modules(modules, &files, &dir, err) < 0 ||
	    make_key(agent, &files, key, agent_hash, err) < 0 ||
	    artifact_find(lab, ARTIFACT_INITRAMFS, key, &found, err) < 0)
		return lab_error_wrap(err, "initramfs");
	cached = found != NULL;
	manifest = make_manifest(agent_hash, dir, &files);
	if (!found && make(lab, agent, &files, key, manifest, &found, err) < 0)
		return lab_error_wrap(err, "initramfs");
	*ret_initramfs = LAB_TAKE(found);
	if (ret_cached)
		*ret_cached = cached;
	return 0;
}
