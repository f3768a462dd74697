/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs inside the machines of the integration tests, one static program.
 *
 * As /init it stands in for an agent that misbehaves; `labtest=WHAT` on the kernel's
 * command line says how. Otherwise it is a workload: its first argument says which.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHANNEL "org.labctl.agent.0"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void load_modules(void)
{
	char line[512], path[600];
	FILE *list = fopen("/modules.list", "re");

	while (list && fgets(line, sizeof(line), list)) {
		int fd;

		line[strcspn(line, "\n")] = '\0';
		snprintf(path, sizeof(path), "%s%s", line[0] == '/' ? "" : "/", line);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	if (list)
		fclose(list);
}

/* Opens the port with our name; -1 when it is not there yet. */
static int open_port(void)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *entry;
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir))) {
		char path[400], name[64] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) && !strncmp(name, CHANNEL, strlen(CHANNEL))) {
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			found = open(path, O_RDWR | O_CLOEXEC);
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void say(int port, const char *json)
{
	unsigned len = (unsigned)strlen(json);
	unsigned char head[4] = {len & 255, len >> 8 & 255, len >> 16 & 255, len >> 24};

	if (write(port, head, 4) != 4 || write(port, json, len) != (ssize_t)len)
		fprintf(stderr, "port: %s\n", strerror(errno));
}

static void hello(int port, int protocol)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "{\"type\":\"hello\",\"protocol\":%d,\"agent\":\"0.0.0+test\",\"boot_id\":"
		 "\"00000000-0000-4000-8000-000000000000\",\"kernel_build_id\":\"\","
		 "\"kernel_release\":\"test\",\"t\":1}",
		 protocol);
	say(port, text);
}

static void flood(int port)
{
	static const char bytes[65536];

	while (write(port, bytes, sizeof(bytes)) > 0)
		;
}

/* More console than anybody keeps by default. */
static void chatter(size_t bytes)
{
	int fd = open("/dev/console", O_WRONLY | O_CLOEXEC);
	size_t said = 0;
	char line[128];

	for (int i = 1; fd >= 0 && said < bytes; i++) {
		int n = snprintf(line, sizeof(line), "line %08d %.100s\n", i,
				 "0123456789012345678901234567890123456789012345678901234567890123"
				 "456789012345678901234567890123456789");

		if (write(fd, line, (size_t)n) != n)
			break;
		said += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
}

static void misbehave(const char *what, int port)
{
	if (!strcmp(what, "version")) {
		hello(port, 99);
	} else if (!strcmp(what, "garbage")) {
		hello(port, 1);
		if (write(port, "\xff\xff\xff\xff garbage", 12) < 0)
			perror("port");
		sleep(1);
	} else if (!strcmp(what, "flood")) {
		flood(port);
	} else if (!strcmp(what, "panic")) {
		hello(port, 1);
		write_file("/proc/sysrq-trigger", "c");
	} else if (!strcmp(what, "chatty")) {
		chatter(3 << 20);
	} else if (!strcmp(what, "reboot")) {
		hello(port, 1);
		reboot(RB_AUTOBOOT);
	} else if (!strcmp(what, "deaf")) {
		hello(port, 1);
		for (;;)
			pause();
	} else if (!strcmp(what, "mute")) {
		for (;;)
			pause();
	} else if (!strcmp(what, "last-words")) {
		/* What is said right before the power goes must arrive. */
		hello(port, 1);
		for (int i = 1; i <= 500; i++) {
			char text[100];

			snprintf(text, sizeof(text),
				 "{\"type\":\"log\",\"t\":%d,\"level\":\"info\",\"text\":\"%d\"}",
				 i, i);
			say(port, text);
		}
		/* A write returns when it is queued, not when the host's QEMU has taken it. */
		usleep(300000);
	}
}

static int as_init(void)
{
	char line[1024] = "", *what;
	int port = -1;
	FILE *f;

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	load_modules();
	f = fopen("/proc/cmdline", "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	what = strstr(line, "labtest=");
	what = what ? what + strlen("labtest=") : line + strlen(line);
	what[strcspn(what, " \n")] = '\0';
	for (int i = 0; *what && port < 0 && i < 500; i++) {
		port = open_port();
		if (port < 0)
			usleep(10000);
	}
	misbehave(what, port);
	reboot(RB_POWER_OFF);
	return 1;
}

static int fill_disk(const char *path, long mebibytes)
{
	static char block[1 << 20];
	int fd = open(path, O_WRONLY | O_SYNC | O_CLOEXEC);

	memset(block, 0x5a, sizeof(block));
	for (long i = 0; i < mebibytes; i++) {
		if (fd < 0 || write(fd, block, sizeof(block)) != (ssize_t)sizeof(block)) {
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
			return 1;
		}
	}
	close(fd);
	return 0;
}

static void hold(long mebibytes)
{
	char *memory = malloc((size_t)mebibytes << 20);

	if (memory)
		memset(memory, 1, (size_t)mebibytes << 20);
	sleep(1);
	free(memory);
}

/* hold MEBIBYTES: uses memory; sleep SECONDS; write DEVICE MEBIBYTES; sysrq KEY; fail. */
static int as_workload(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "true";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	if (!strcmp(what, "hold")) {
		hold(n);
	} else if (!strcmp(what, "sleep")) {
		sleep((unsigned)n);
	} else if (!strcmp(what, "write")) {
		return fill_disk(argc > 2 ? argv[2] : "", argc > 3 ? strtol(argv[3], NULL, 10) : 1);
	} else if (!strcmp(what, "sysrq")) {
		write_file("/proc/sysrq-trigger", argc > 2 ? argv[2] : "c");
		sleep(5);
	} else if (!strcmp(what, "fail")) {
		return 3;
	}
	printf("%s done\n", what);
	return 0;
}

int main(int argc, char **argv)
{
	return getpid() == 1 ? as_init() : as_workload(argc, argv);
}
