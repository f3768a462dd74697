/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/digest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/strv.h"

struct package {
	const char *tool; /* program, or begin of a header's name */
	const char *name;
};

static const struct package packages[] = {
	{"gcc", "gcc"},
	{"ld", "binutils"},
	{"make", "make"},
	{"flex", "flex"},
	{"bison", "bison"},
	{"bc", "bc"},
	{"perl", "perl"},
	{"python3", "python3"},
	{"pahole", "pahole"},
	{"lz4", "lz4"},
	{"lzop", "lzop"},
	{"xz", "xz-utils"},
	{"zstd", "zstd"},
	{"bzip2", "bzip2"},
	{"cpio", "cpio"},
	{"rsync", "rsync"},
	{"depmod", "kmod"},
	{"gelf.h", "libelf-dev"},
	{"libelf.h", "libelf-dev"},
	{"elf.h", "libc6-dev"},
	{"openssl/", "libssl-dev"},
	{"zlib.h", "zlib1g-dev"},
	{"ncurses.h", "libncurses-dev"},
	{"elfutils/", "libdw-dev"},
};

const char *digest_package(const char *tool)
{
	for (size_t i = 0; i < LAB_COUNT(packages); i++) {
		if (lab_ends_with(packages[i].tool, "/") ? lab_starts_with(tool, packages[i].tool)
							 : strcmp(tool, packages[i].tool) == 0)
			return packages[i].name;
	}
	return NULL;
}

/* True for "file:LINE:" somewhere at the begin: what compilers and kconfig put in front. */
static bool has_place(const char *line)
{
	const char *p = line;

	while (*p && !isspace((unsigned char)*p)) {
		if (*p == ':' && isdigit((unsigned char)p[1])) {
			p += 1 + strspn(p + 1, "0123456789");
			return *p == ':';
		}
		p++;
	}
	return false;
}

static bool is_compiler_error(const char *line)
{
	return has_place(line) && (strstr(line, ": error: ") || strstr(line, ": fatal error: ") ||
				   strstr(line, ": Error: "));
}

/* "mm/Kconfig:12: syntax error", "Kconfig:3: unknown statement", but no warning. */
static bool is_kconfig_error(const char *line)
{
	const char *place = strstr(line, "Kconfig");

	return place && place < line + strcspn(line, " ") && has_place(line) &&
	       !strstr(line, ":warning:") && !strstr(line, ": warning:");
}

static bool is_link_error(const char *line)
{
	return strstr(line, "undefined reference to") || strstr(line, "multiple definition of") ||
	       lab_starts_with(line, "ERROR: modpost:") || lab_starts_with(line, "FAILED: ") ||
	       (lab_starts_with(line, "ld:") && !strstr(line, "warning") &&
		!strstr(line, ": in function "));
}

static bool is_other_error(const char *line)
{
	return strstr(line, "*** No rule to make target") ||
	       strstr(line, "No space left on device") || strstr(line, "internal compiler error") ||
	       strstr(line, "Cannot allocate memory") || strstr(line, "*** missing separator") ||
	       strstr(line, "Permission denied") || strstr(line, "error: objtool") ||
	       strstr(line, ": error:");
}

/* "/bin/sh: 1: flex: not found" or "make[1]: flex: No such file or directory": the program. */
static char *missing_program(const char *line)
{
	static const char *const endings[] = {": not found", ": command not found",
					      ": No such file or directory"};

	if (!lab_starts_with(line, "/bin/") && !lab_starts_with(line, "make"))
		return NULL;
	for (size_t i = 0; i < LAB_COUNT(endings); i++) {
		const char *end = line + strlen(line) - strlen(endings[i]);
		const char *begin;

		if (!lab_ends_with(line, endings[i]))
			continue;
		for (begin = end; begin > line && begin[-1] != ' '; begin--)
			;
		return lab_strndup(begin, (size_t)(end - begin));
	}
	return NULL;
}

/* "x.c:3:10: fatal error: gelf.h: No such file or directory": the header. */
static char *missing_header(const char *line)
{
	static const char before[] = "fatal error: ", after[] = ": No such file or directory";
	const char *begin = strstr(line, before), *end;

	if (!begin)
		return NULL;
	begin += strlen(before);
	end = strstr(begin, after);
	return end ? lab_strndup(begin, (size_t)(end - begin)) : NULL;
}

/* Takes the directories off: "../tree/mm/slub.c", "/lab/work/x/tree/mm/slub.c". */
static char *shorten(const char *line, const char *tree, const char *obj)
{
	const char *dirs[] = {tree, obj};
	const char *base = strrchr(tree, '/');
	LAB_CLEANUP(free) char *relative = lab_asprintf("..%s/", base ? base : "/tree");

	for (size_t i = 0; i < LAB_COUNT(dirs); i++) {
		size_t len = strlen(dirs[i]);

		if (lab_starts_with(line, dirs[i]) && line[len] == '/')
			return lab_strdup(line + len + 1);
	}
	if (lab_starts_with(line, relative))
		line += strlen(relative);
	return lab_strdup(lab_starts_with(line, "./") ? line + 2 : line);
}

static char *with_package(char *text, const char *tool)
{
	const char *package = tool ? digest_package(tool) : NULL;
	char *both;

	if (!package)
		return text;
	both = lab_asprintf("%s (apt-get install %s)", text, package);
	free(text);
	return both;
}

/* The line as an error in words, or NULL when it is none. */
static char *digest_line(const char *line, const char *tree, const char *obj)
{
	LAB_CLEANUP(free) char *program = missing_program(line);
	LAB_CLEANUP(free) char *header = NULL;

	if (program && digest_package(program))
		return with_package(lab_asprintf("'%s' is not installed", program), program);
	if (program && !lab_starts_with(line, "make"))
		return lab_asprintf("'%s' is not installed", program);
	if (is_compiler_error(line)) {
		header = missing_header(line);
		return with_package(shorten(line, tree, obj), header);
	}
	if (is_kconfig_error(line) || is_link_error(line) || is_other_error(line))
		return shorten(line, tree, obj);
	return NULL;
}

char *digest_failure(const char *log, const char *tree, const char *obj)
{
	LAB_CLEANUP(free) char *rule = NULL; /* what make says of its first failed rule */

	for (const char *at = log; *at;) {
		size_t len = strcspn(at, "\n");
		LAB_CLEANUP(free) char *line = lab_strndup(at, len);
		char *found = digest_line(line, tree, obj);

		if (found)
			return found;
		if (!rule && lab_starts_with(line, "make") && strstr(line, "*** "))
			rule = shorten(strstr(line, "*** ") + strlen("*** "), tree, obj);
		at += len + (at[len] == '\n');
	}
	return LAB_TAKE(rule);
}
