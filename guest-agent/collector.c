/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/collector.h"

#include <stdint.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"

#define FILE_MAX (4u << 20)

/* The one list of collectors. */
static const struct collector *const collectors[] = {
	&collector_meminfo, &collector_vmstat, &collector_slabinfo,
	&collector_psi,	    &collector_stat,   &collector_loadavg,
};

const struct collector *collector_find(const char *name)
{
	for (size_t i = 0; i < LAB_COUNT(collectors); i++) {
		if (strcmp(collectors[i]->name, name) == 0)
			return collectors[i];
	}
	return NULL;
}

void collector_read(const struct collector *collector, const char *sysroot, struct series *series,
		    collector_missing_fn *missing, void *ctx)
{
	for (size_t i = 0; i < collector->n_files; i++) {
		const struct collector_file *file = &collector->files[i];
		LAB_CLEANUP(free) char *path = lab_asprintf("%s/proc/%s", sysroot, file->path);
		LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
		struct lab_error err;

		if (lab_read_file(path, FILE_MAX, &text, &err) < 0)
			missing(ctx, file->what, err.errnum ? strerror(err.errnum) : err.text);
		else if (!text.len)
			missing(ctx, file->what, "empty");
		else
			file->parse(text.data, file->what, series);
	}
}

bool collector_line(const char **text, char *line, size_t size)
{
	size_t len = strcspn(*text, "\n"), kept = len < size ? len : size - 1;

	if (!**text)
		return false;
	memcpy(line, *text, kept);
	line[kept] = '\0';
	*text += len + ((*text)[len] == '\n');
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool collector_word(const char **text, char *word, size_t size)
{
	const char *p = *text;
	size_t n = 0;

	while (is_blank(*p))
		p++;
	for (; *p && !is_blank(*p); p++) {
		if (n + 1 < size)
			word[n++] = *p;
	}
	word[n] = '\0';
	*text = p;
	return n > 0;
}

bool collector_number(const char *word, int64_t *ret_value)
{
	uint64_t value = 0;

	if (!*word)
		return false;
	for (; *word; word++) {
		if (*word < '0' || *word > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*word - '0'), &value))
			return false;
	}
	if (value > INT64_MAX)
		return false;
	*ret_value = (int64_t)value;
	return true;
}

bool collector_hundredths(const char *word, int64_t *ret_value)
{
	const char *dot = strchr(word, '.');
	char whole[20];
	int64_t units;

	if (!dot || (size_t)(dot - word) >= sizeof(whole) || strlen(dot) != 3 ||
	    strspn(dot + 1, "0123456789") != 2)
		return false;
	memcpy(whole, word, (size_t)(dot - word));
	whole[dot - word] = '\0';
	if (!collector_number(whole, &units) || units > INT64_MAX / 100 - 1)
		return false;
	*ret_value = units * 100 + (dot[1] - '0') * 10 + (dot[2] - '0');
	return true;
}
