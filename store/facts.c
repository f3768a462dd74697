/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/facts.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <jansson.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/internal.h"

int fact_get(struct lab *lab, const char *name, const char *scope, char **ret_json,
	     struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_FACT_GET, &st, err) < 0)
		return -1;
	db_text(st, name);
	db_text(st, scope);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	*ret_json = rc ? db_col_text(st, 0) : NULL;
	return 0;
}

int fact_put(struct lab *lab, const char *name, const char *scope, const char *json,
	     struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (json_object_text(json, name, &json, err) < 0 || lab_need_write(lab, err) < 0 ||
	    db_prepare(lab->db, SQL_FACT_PUT, &st, err) < 0)
		return -1;
	db_text(st, name);
	db_text(st, scope);
	db_text(st, json);
	db_int(st, lab_unix_time());
	return db_run(st, err);
}

int host_boot_id(char **ret_id, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (lab_read_file("/proc/sys/kernel/random/boot_id", 256, &text, err) < 0)
		return -1;
	lab_buf_adds(&text, "");
	text.data[strcspn(text.data, "\n")] = '\0';
	*ret_id = lab_buf_take(&text);
	return 0;
}

/* "model name" of the first CPU, or NULL. */
static char *cpu_model(void)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	const char *value;

	if (lab_read_file("/proc/cpuinfo", (size_t)16 << 20, &text, NULL) < 0 || !text.data)
		return NULL;
	value = strstr(text.data, "model name");
	value = value ? strchr(value, ':') : NULL;
	if (!value)
		return NULL;
	value += strspn(value, ": \t");
	return lab_strndup(value, strcspn(value, "\n"));
}

/* Text from outside may be no UTF-8; then it is left out. */
static void set_text(json_t *facts, const char *name, const char *value)
{
	json_t *text = value ? json_string(value) : NULL;

	if (text)
		json_object_set_new(facts, name, text);
}

char *host_facts_json(const char *qemu_build)
{
	LAB_CLEANUP(free) char *model = cpu_model();
	LAB_CLEANUP(free) char *boot_id = NULL;
	json_t *facts = json_object();
	long pages = sysconf(_SC_PHYS_PAGES);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname uts;
	char *text;

	set_text(facts, "cpu_model", model);
	if (cpus > 0)
		json_object_set_new(facts, "cpus", json_integer(cpus));
	if (pages > 0)
		json_object_set_new(facts, "memory_bytes",
				    json_integer((json_int_t)pages * sysconf(_SC_PAGESIZE)));
	if (uname(&uts) == 0) {
		set_text(facts, "kernel", uts.release);
		set_text(facts, "kernel_version", uts.version);
		set_text(facts, "machine", uts.machine);
	}
	if (host_boot_id(&boot_id, NULL) == 0)
		set_text(facts, "boot_id", boot_id);
	set_text(facts, "qemu", qemu_build);
	text = json_dumps(facts, JSON_COMPACT);
	json_decref(facts);
	return text;
}
