/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/hostload.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"

enum { FILE_CAP = 1 << 20, MAX_CPUS = 4096 };

static bool read_text(const char *root, const char *path, struct lab_buf *ret)
{
	LAB_CLEANUP(free) char *full = lab_asprintf("%s%s", root, path);
	struct lab_error ignored;

	return !lab_read_file(full, FILE_CAP, ret, &ignored) && ret->len;
}

static void add_real(json_t *object, const char *key, const char *text)
{
	double value;

	if (text && !lab_parse_double(text, &value, NULL))
		json_object_set_new(object, key, json_real(value));
}

static void read_loadavg(const char *root, json_t *ret)
{
	static const char *const keys[] = {"load1", "load5", "load15"};
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv words = LAB_STRV_INIT;

	if (!read_text(root, "/proc/loadavg", &text))
		return;
	lab_strv_split(&words, text.data, " \n");
	for (size_t i = 0; i < LAB_COUNT(keys) && i < words.n; i++)
		add_real(ret, keys[i], words.items[i]);
}

/* "cpu  user nice system idle iowait irq softirq steal ..." in ticks. */
static void read_stat(const char *root, json_t *ret)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv words = LAB_STRV_INIT;
	double v[8], hz = (double)sysconf(_SC_CLK_TCK);

	if (!read_text(root, "/proc/stat", &text) || !lab_starts_with(text.data, "cpu "))
		return;
	text.data[strcspn(text.data, "\n")] = '\0';
	lab_strv_split(&words, text.data, " ");
	if (words.n < 1 + LAB_COUNT(v))
		return;
	for (size_t i = 0; i < LAB_COUNT(v); i++) {
		if (lab_parse_double(words.items[i + 1], &v[i], NULL))
			return;
		v[i] /= hz;
	}
	json_object_set_new(ret, "cpu",
			    json_pack("{s:f, s:f, s:f, s:f, s:f}", "user_s", v[0] + v[1],
				      "system_s", v[2] + v[5] + v[6], "idle_s", v[3], "iowait_s",
				      v[4], "steal_s", v[7]));
}

static void read_frequency(const char *root, json_t *ret)
{
	LAB_CLEANUP(buf) struct lab_buf governor = LAB_BUF_INIT;
	double min = 0, max = 0;

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		LAB_CLEANUP(free)
		char *path =
			lab_asprintf("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
		LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
		uint64_t khz;

		if (!read_text(root, path, &text))
			break;
		text.data[strcspn(text.data, "\n")] = '\0';
		if (lab_parse_u64(text.data, &khz, NULL))
			break;
		if (!cpu || (double)khz < min)
			min = (double)khz;
		if (!cpu || (double)khz > max)
			max = (double)khz;
	}
	if (max > 0)
		json_object_set_new(ret, "mhz",
				    json_pack("{s:f, s:f}", "min", min / 1000, "max", max / 1000));
	if (read_text(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", &governor)) {
		governor.data[strcspn(governor.data, "\n")] = '\0';
		json_object_set_new(ret, "governor", json_string(governor.data));
	}
}

/* "some avg10=1.23 avg60=..." */
static void read_pressure(const char *root, json_t *ret)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	static const char key[] = "avg10=";
	char *value;

	if (!read_text(root, "/proc/pressure/cpu", &text))
		return;
	value = strstr(text.data, key);
	if (!value)
		return;
	value += strlen(key);
	value[strcspn(value, " \n")] = '\0';
	add_real(ret, "pressure_cpu_avg10", value);
}

json_t *host_load_read(const char *root)
{
	json_t *ret = json_object();

	read_loadavg(root, ret);
	read_stat(root, ret);
	read_frequency(root, ret);
	read_pressure(root, ret);
	return ret;
}

static double passed(const json_t *before, const json_t *after, const char *key)
{
	return json_number_value(json_object_get(after, key)) -
	       json_number_value(json_object_get(before, key));
}

json_t *host_load_between(const json_t *before, const json_t *after)
{
	const json_t *a = json_object_get(before, "cpu"), *b = json_object_get(after, "cpu");
	double busy, steal, total;

	if (!a || !b)
		return json_object();
	steal = passed(a, b, "steal_s");
	busy = passed(a, b, "user_s") + passed(a, b, "system_s");
	total = busy + steal + passed(a, b, "idle_s") + passed(a, b, "iowait_s");
	if (total <= 0)
		return json_object();
	return json_pack("{s:f, s:f}", "steal_percent", 100 * steal / total, "busy_percent",
			 100 * busy / total);
}

static bool is_qemu(const char *root, const char *pid)
{
	LAB_CLEANUP(free) char *comm = lab_asprintf("/proc/%s/comm", pid);
	LAB_CLEANUP(free) char *cmdline = lab_asprintf("/proc/%s/cmdline", pid);
	LAB_CLEANUP(buf) struct lab_buf name = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf args = LAB_BUF_INIT;

	/* A zombie has a name but no arguments any more. */
	return read_text(root, comm, &name) &&
	       (lab_starts_with(name.data, "qemu-system") ||
		lab_starts_with(name.data, "qemu-kvm")) &&
	       read_text(root, cmdline, &args);
}

unsigned host_count_qemu(const char *root, pid_t except)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("%s/proc", root);
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir))) {
		uint64_t pid;

		if (lab_parse_u64(entry->d_name, &pid, NULL) || pid == (uint64_t)except)
			continue;
		n += is_qemu(root, entry->d_name);
	}
	return n;
}
