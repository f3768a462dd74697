/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/init.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"
#include "guest-agent/disks_setup.h"
#include "guest-agent/modules.h"
#include "guest-agent/spawn.h"

#define NICE (-10) /* heartbeats get through among hundreds of busy tasks */

static int fatal_console = -1;

/*
 * A PID 1 that dies would look like a kernel panic, so it powers off instead. Only
 * calls that are safe in a signal handler. A signal that somebody else sent is his joke.
 */
static void fatal(int sig, siginfo_t *info, void *context)
{
	char text[] = "labctl-agent: killed by signal 00, power off\n";

	(void)context;
	if (info->si_code <= 0 && info->si_pid != getpid())
		return;
	text[31] = (char)('0' + sig / 10);
	text[32] = (char)('0' + sig % 10);
	if (fatal_console >= 0 && write(fatal_console, text, sizeof(text) - 1) < 0)
		sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void catch_fatal(int console)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
	struct sigaction action = {.sa_sigaction = fatal, .sa_flags = SA_SIGINFO | SA_RESTART};

	fatal_console = console;
	for (size_t i = 0; i < LAB_COUNT(signals); i++)
		sigaction(signals[i], &action, NULL);
}

static void mount_base(void)
{
	static const struct {
		const char *type, *path;
		unsigned long flags;
	} base[] = {
		{"proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC},
		{"sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC},
		{"devtmpfs", "/dev", MS_NOSUID},
	};

	for (size_t i = 0; i < LAB_COUNT(base); i++) {
		mkdir(base[i].path, 0755);
		if (mount(base[i].type, base[i].path, base[i].type, base[i].flags, NULL) < 0 &&
		    errno == ENODEV && strcmp(base[i].path, "/dev") == 0)
			mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=0755");
	}
}

/* Without a console of their own, 0, 1 and 2 would be taken by whatever is opened first. */
static void open_console(struct agent *agent)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3)
		fd = dup(fd);
	agent->console = fd;
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	catch_fatal(fd);
}

char *init_parameter(const char *cmdline, const char *name)
{
	LAB_CLEANUP(strv) struct lab_strv words = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *key = lab_asprintf("labctl.%s=", name);

	lab_strv_split(&words, cmdline, " \n");
	for (size_t i = 0; i < words.n; i++) {
		if (lab_starts_with(words.items[i], key))
			return lab_strdup(words.items[i] + strlen(key));
	}
	return NULL;
}

static bool port_is_there(void *name)
{
	LAB_CLEANUP(free) char *path = channel_virtio_path("", name);

	return path != NULL;
}

int init_begin(struct agent *agent, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf cmdline = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *channel = NULL;
	char port[] = MESSAGE_CHANNEL;

	mount_base();
	open_console(agent);
	reboot(RB_DISABLE_CAD);
	if (lab_read_file("/proc/cmdline", 65536, &cmdline, err) < 0)
		return -1;
	channel = init_parameter(cmdline.data ? cmdline.data : "", "channel");
	if (!channel)
		channel = lab_strdup("virtio:" MESSAGE_CHANNEL);
	if (access(JOB_FILE, F_OK) == 0)
		agent->job_file = JOB_FILE;
	if (lab_starts_with(channel, "virtio:"))
		modules_load(agent, port_is_there, port);
	else
		modules_load(agent, NULL, NULL);
	return channel_open(channel, "", &agent->channel, err);
}

static void bring_up_lo(struct agent *agent)
{
	LAB_CLEANUP(fd) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		agent_log(agent, "info", "lo is not up: %s", strerror(errno));
}

void init_settle(struct agent *agent)
{
	struct lab_error err;

	if (lab_write_existing("/proc/self/oom_score_adj", "-1000", &err) < 0)
		agent_log(agent, "warn", "no OOM protection: %s", err.text);
	setpriority(PRIO_PROCESS, 0, NICE);
	modules_load(agent, NULL, NULL);
	bring_up_lo(agent);
	if (sethostname("labctl", 6) < 0)
		agent_log(agent, "info", "hostname: %s", strerror(errno));
	/* Under pressure the agent must not wait for its own pages. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		agent_log(agent, "warn", "memory is not locked: %s", strerror(errno));
}

void init_power_off(struct agent *agent)
{
	spawn_kill_all(true, 0);
	disks_leave();
	sync();
	reboot(RB_POWER_OFF);
	agent_say(agent, "power off failed: %s", strerror(errno));
	for (;;)
		pause();
}
