/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "common/file.h"
#include "common/mem.h"
#include "store/internal.h"
#include "store/schema.h"

static const char *const subdirs[] = {"artifacts", "artifacts/tmp", "runs", "tmp"};
/* What an interrupted lab_init can leave; anything else is somebody's data. */
static const char *const own_names[] = {"artifacts",  "runs",	"tmp",		 "lock",
					"lost+found", "lab.db", "lab.db-wal",	 "lab.db-shm",
					".",	      "..",	"lab.db-journal"};

char *lab_default_dir(void)
{
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");

	if (geteuid() == 0)
		return lab_strdup("/var/lib/labctl");
	if (data && data[0] == '/')
		return lab_path_join(data, "labctl");
	if (!home || home[0] != '/') {
		const struct passwd *pw = getpwuid(geteuid());

		home = pw ? pw->pw_dir : "/";
	}
	return lab_path_join(home, ".local/share/labctl");
}

static char *join_db(const char *dir)
{
	return lab_path_join(dir, "lab.db");
}

static bool is_own(const char *name)
{
	for (size_t i = 0; i < LAB_COUNT(own_names); i++) {
		if (strcmp(name, own_names[i]) == 0)
			return true;
	}
	return false;
}

static int refuse_foreign(const char *path, struct lab_error *err)
{
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return lab_error_errno(err, errno, "%s", path);
	while ((entry = readdir(dir))) {
		if (!is_own(entry->d_name))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "%s is no empty directory (it has %s): a lab wants "
					     "one of its own",
					     path, entry->d_name);
	}
	return 0;
}

static int random_id(char hex[33], struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	unsigned char bytes[16];

	if (fd < 0)
		return lab_error_errno(err, errno, "/dev/urandom");
	if (read(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
		return lab_error_errno(err, errno, "read /dev/urandom");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* The value of a name in `meta`; NULL when it has none. */
static int meta_get(struct db *db, const char *name, char **ret, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(db, SQL_META_GET, &st, err) < 0)
		return -1;
	db_text(st, name);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	*ret = rc ? db_col_text(st, 0) : NULL;
	return 0;
}

static int meta_put(struct db *db, const char *name, const char *value, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(db, SQL_META_PUT, &st, err) < 0)
		return -1;
	db_text(st, name);
	db_text(st, value);
	return db_run(st, err);
}

static int add_identity(struct db *db, struct lab_error *err)
{
	LAB_CLEANUP(free) char *have = NULL;
	LAB_CLEANUP(free)
	char *mark = lab_asprintf("PRAGMA application_id = %d", SCHEMA_APPLICATION_ID);
	char id[33];

	if (meta_get(db, "id", &have, err) < 0)
		return -1;
	if (have)
		return 0;
	if (random_id(id, err) < 0 || meta_put(db, "id", id, err) < 0)
		return -1;
	return db_exec(db, mark, err);
}

/* Under a transaction: another process may have settled it meanwhile. */
static int settle(struct lab *lab, const char *place, struct lab_error *err)
{
	LAB_CLEANUP(free) char *known = NULL;
	char id[33];

	if (meta_get(lab->db, "inode", &known, err) < 0)
		return -1;
	if (known && strcmp(known, place) == 0)
		return 0;
	if (known && (random_id(id, err) < 0 || meta_put(lab->db, "id", id, err) < 0))
		return -1;
	return meta_put(lab->db, "inode", place, err);
}

/*
 * A copy of a lab is another lab: machines carry the id in their names, and two labs of
 * one id would take each other's for their own. A copy lies in another directory, which
 * the inode tells; a lab that was only renamed lies in the same.
 */
static int settle_identity(struct lab *lab, struct lab_error *err)
{
	LAB_CLEANUP(free) char *known = NULL;
	LAB_CLEANUP(free) char *place = NULL;
	struct stat st;

	if (lab->why_read_only)
		return 0;
	if (stat(lab->dir, &st) < 0)
		return lab_error_errno(err, errno, "%s", lab->dir);
	place = lab_asprintf("%ju", (uintmax_t)st.st_ino);
	if (meta_get(lab->db, "inode", &known, err) < 0)
		return -1;
	if (known && strcmp(known, place) == 0)
		return 0;
	if (db_begin(lab->db, err) < 0)
		return -1;
	return lab_end(lab, settle(lab, place, err), err);
}

/* A lab is one once its identity is committed: everything before can be done again. */
static int fill_db(const char *dir, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = join_db(dir);
	LAB_CLEANUP(db) struct db *db = NULL;
	const struct db_migration *list;
	size_t n;

	if (db_open(path, DB_CREATE, &db, err) < 0)
		return -1;
	list = schema_migrations(&n);
	if (db_migrate(db, list, n, err) < 0 || db_begin(db, err) < 0)
		return -1;
	if (add_identity(db, err) < 0) {
		db_rollback(db);
		return -1;
	}
	return db_commit(db, err);
}

int lab_init(const char *dir, struct lab_error *err)
{
	LAB_CLEANUP(free) char *db = join_db(dir);

	/* What is there may be a file of another program: look before writing to it. */
	if (lab_file_exists(db)) {
		LAB_CLEANUP(lab) struct lab *lab = NULL;
		struct lab_error why = {0};

		if (lab_open(dir, &lab, &why) == 0)
			return 0;
		if (why.kind != LAB_ERR_NOT_FOUND)
			return lab_error_set(err, why.kind, "%s", why.text);
	}
	if (lab_mkdirs(dir, 0755, err) < 0 || refuse_foreign(dir, err) < 0)
		return -1;
	for (size_t i = 0; i < LAB_COUNT(subdirs); i++) {
		LAB_CLEANUP(free) char *path = lab_path_join(dir, subdirs[i]);

		if (lab_mkdirs(path, 0755, err) < 0)
			return -1;
	}
	return fill_db(dir, err);
}

static const char *user_name(uid_t uid, char *text, size_t size)
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(text, size, "%s", pw->pw_name);
	else
		snprintf(text, size, "uid %u", (unsigned)uid);
	return text;
}

/*
 * Only the owner writes to a lab. Root could, but would leave files behind that stop
 * the owner later on.
 */
static char *reason_not_to_write(const char *dir, const struct stat *st)
{
	char owner[64];

	if (st->st_uid != geteuid())
		return lab_asprintf("it belongs to %s",
				    user_name(st->st_uid, owner, sizeof(owner)));
	if (access(dir, W_OK) < 0)
		return lab_strdup(errno == EROFS ? "it is on a read-only file system"
						 : "its directory is not writable");
	return NULL;
}

static int open_reading(const char *path, struct db **ret, struct lab_error *err)
{
	LAB_CLEANUP(free) char *wal = lab_asprintf("%s-wal", path);
	LAB_CLEANUP(free) char *dir = lab_strndup(path, (size_t)(lab_path_base(path) - path));
	LAB_CLEANUP(db) struct db *db = NULL;
	int64_t pages;
	/* Without journal files, and nowhere to make them, nobody is writing either. */
	bool cold = access(wal, F_OK) < 0 && access(dir, W_OK) < 0;

	if (db_open(path, cold ? DB_READ_COLD : DB_READ, &db, err) < 0)
		return -1;
	/* The first access tells whether it can be read at all. */
	if (db_pragma(db, "page_count", &pages, err) < 0)
		return -1;
	*ret = LAB_TAKE(db);
	return 0;
}

/* A database without our mark: one of ours that lab_init could not finish, or not ours. */
static int unmarked(struct lab *lab, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_FOREIGN_TABLES, &st, err) < 0 || db_step(st, err) < 0)
		return -1;
	if (db_col_int(st, 0) == 0)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "%s is no lab yet: `labctl init` finishes it", lab->dir);
	return lab_error_set(err, LAB_ERR_INVALID,
			     "%s/lab.db was not made by labctl: choose another directory",
			     lab->dir);
}

static int check_schema(struct lab *lab, struct lab_error *err)
{
	const struct db_migration *list;
	int64_t version;
	int64_t mark;
	size_t n;

	if (db_pragma(lab->db, "application_id", &mark, err) < 0 ||
	    db_pragma(lab->db, "user_version", &version, err) < 0)
		return -1;
	list = schema_migrations(&n);
	if (mark != SCHEMA_APPLICATION_ID)
		return unmarked(lab, err);
	if (version < (int64_t)n && lab->why_read_only)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "%s was made by an older labctl and cannot be brought "
				     "forward: %s",
				     lab->dir, lab->why_read_only);
	return db_migrate(lab->db, list, n, err);
}

static int open_db(struct lab *lab, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = join_db(lab->dir);
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (errno == EACCES)
			return lab_error_errno(err, errno, "%s", path);
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "%s is no lab: `labctl init` makes one, --lab or LABCTL_LAB "
				     "name another",
				     lab->dir);
	}
	if (access(path, R_OK) < 0)
		return lab_error_errno(err, errno, "%s", path);
	lab->why_read_only = reason_not_to_write(lab->dir, &st);
	if (lab->why_read_only)
		return open_reading(path, &lab->db, err);
	return db_open(path, DB_WRITE, &lab->db, err);
}

int lab_open(const char *dir, struct lab **ret_lab, struct lab_error *err)
{
	LAB_CLEANUP(lab) struct lab *lab = LAB_NEW(struct lab);

	lab->dir = realpath(dir, NULL);
	if (!lab->dir && errno == ENOENT)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "no lab at %s: `labctl init` makes one, --lab or LABCTL_LAB "
				     "name another",
				     dir);
	if (!lab->dir)
		return lab_error_errno(err, errno, "%s", dir);
	if (open_db(lab, err) < 0 || check_schema(lab, err) < 0 || settle_identity(lab, err) < 0 ||
	    meta_get(lab->db, "id", &lab->id, err) < 0)
		return -1;
	if (!lab->id)
		return lab_error_set(err, LAB_ERR_FAILED, "%s/lab.db is damaged: it has no id",
				     lab->dir);
	*ret_lab = LAB_TAKE(lab);
	return 0;
}

void lab_free(struct lab *lab)
{
	if (!lab)
		return;
	db_free(lab->db);
	free(lab->dir);
	free(lab->id);
	free(lab->why_read_only);
	free(lab);
}

const char *lab_dir(const struct lab *lab)
{
	return lab->dir;
}

const char *lab_id(const struct lab *lab)
{
	return lab->id;
}

bool lab_read_only(const struct lab *lab)
{
	return lab->why_read_only != NULL;
}

char *lab_path(const struct lab *lab, const char *fmt, ...)
{
	LAB_CLEANUP(free) char *rest = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&rest, fmt, ap) < 0)
		abort();
	va_end(ap);
	return lab_path_join(lab->dir, rest);
}

int lab_check(struct lab *lab, struct lab_error *err)
{
	return db_check(lab->db, err);
}

int lab_need_write(const struct lab *lab, struct lab_error *err)
{
	if (!lab->why_read_only)
		return 0;
	return lab_error_set(err, LAB_ERR_UNAVAILABLE, "the lab %s can only be read: %s", lab->dir,
			     lab->why_read_only);
}

int lab_begin(struct lab *lab, struct lab_error *err)
{
	if (lab_need_write(lab, err) < 0)
		return -1;
	return db_begin(lab->db, err);
}

int lab_end(struct lab *lab, int rc, struct lab_error *err)
{
	if (rc == 0)
		rc = db_commit(lab->db, err);
	if (rc < 0)
		db_rollback(lab->db);
	return rc;
}

int json_object_text(const char *text, const char *what, const char **ret, struct lab_error *err)
{
	json_error_t why;
	json_t *root;
	bool object;

	if (!text) {
		*ret = "{}";
		return 0;
	}
	root = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		return lab_error_set(err, LAB_ERR_INVALID, "%s: no JSON: %s", what, why.text);
	object = json_is_object(root);
	json_decref(root);
	if (!object)
		return lab_error_set(err, LAB_ERR_INVALID, "%s: no JSON object", what);
	*ret = text;
	return 0;
}
