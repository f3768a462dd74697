/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"

/* What every step gets; the job's own come after and win. */
static void make_env(const struct job *job, const struct job_step *step, struct lab_strv *env)
{
	static const char *const fixed[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
		"LC_ALL=C", "TERM=dumb", NULL};
	size_t own;

	lab_strv_add_all(env, fixed);
	lab_strv_addf(env, "LABCTL_RUN=%s", job->run);
	lab_strv_addf(env, "LABCTL_SEED=%" PRIu64, job->seed);
	own = env->n;
	for (size_t i = 0; i < step->env.n; i++) {
		size_t key = strcspn(step->env.items[i], "=") + 1, at = 0;

		while (at < own && strncmp(env->items[at], step->env.items[i], key) != 0)
			at++;
		if (at == own) {
			lab_strv_add(env, step->env.items[i]);
			continue;
		}
		free(env->items[at]);
		env->items[at] = lab_strdup(step->env.items[i]);
	}
}

static const char *path_of(const struct lab_strv *env)
{
	for (size_t i = 0; i < env->n; i++) {
		if (lab_starts_with(env->items[i], "PATH="))
			return env->items[i] + 5;
	}
	return "/usr/bin:/bin";
}

/* In the child: says errno to the parent and ends. */
static void child_fail(int report)
{
	int errnum = errno;

	if (write(report, &errnum, sizeof(errnum)) < 0)
		_exit(126);
	_exit(127);
}

/* In the child, before it becomes the program: only system calls. */
static void child_setup(const struct job_step *step, int out, int err, int report)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	sigset_t none;

	setsid();
	if (score >= 0 && write(score, "0", 1) < 0)
		errno = 0; /* without protection there is nothing to take off */
	setpriority(PRIO_PROCESS, 0, 0);
	/* Whatever our parent ignored (a shell's background job: INT and QUIT) is not passed on. */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		child_fail(report);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	else
		close(STDIN_FILENO);
	/* Ours are close-on-exec; what whoever started us left open is not the workload's either. */
	if (syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		errno = 0; /* before Linux 5.11: then it inherits */
	if (chdir(step->cwd ? step->cwd : "/") < 0)
		child_fail(report);
}

/* Waits for exec (the pipe closes) or for the errno of what failed. */
static int wait_for_exec(int report, pid_t pid, const struct job_step *step, struct lab_error *err)
{
	int errnum = 0;
	ssize_t n;

	do {
		n = read(report, &errnum, sizeof(errnum));
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(errnum))
		return 0;
	waitpid(pid, NULL, 0);
	return lab_error_errno(err, errnum, "start %s", step->argv.items[0]);
}

/* The descriptors are all close-on-exec: the child keeps only 0, 1 and 2. */
static int fork_step(const struct job_step *step, const struct lab_strv *env, int out, int err_fd,
		     int *ret_report, pid_t *ret_pid, struct lab_error *err)
{
	int report[2];
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return lab_error_errno(err, errno, "pipe");
	pid = fork();
	if (pid == 0) {
		child_setup(step, out, err_fd, report[1]);
		execvpe(step->argv.items[0], step->argv.items, env->items);
		child_fail(report[1]);
	}
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return lab_error_errno(err, errno, "fork");
	}
	*ret_report = report[0];
	*ret_pid = pid;
	return 0;
}

int spawn_step(const struct job *job, const struct job_step *step, struct spawned *ret,
	       struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv env = LAB_STRV_INIT;
	int out[2] = {-1, -1}, errs[2] = {-1, -1};
	LAB_CLEANUP(fd) int report = -1;
	pid_t pid = -1;
	int rc = -1;

	make_env(job, step, &env);
	/* execvpe looks for the program along the caller's PATH. */
	setenv("PATH", path_of(&env), 1);
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errs, O_CLOEXEC) < 0)
		lab_error_errno(err, errno, "pipe");
	else
		rc = fork_step(step, &env, out[1], errs[1], &report, &pid, err);
	if (out[1] >= 0)
		close(out[1]);
	if (errs[1] >= 0)
		close(errs[1]);
	if (rc == 0)
		rc = wait_for_exec(report, pid, step, err);
	if (rc < 0) {
		if (out[0] >= 0)
			close(out[0]);
		if (errs[0] >= 0)
			close(errs[0]);
		return -1;
	}
	*ret = (struct spawned){pid, out[0], errs[0]};
	return 0;
}

void spawn_adopt_orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Parent of a process, from the field behind the last ')' of its stat; 0 when unknown. */
static pid_t parent_of(const char *pid)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("/proc/%s/stat", pid);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	const char *end;
	int ppid;

	if (lab_read_file(path, 65536, &text, NULL) < 0 || !text.data)
		return 0;
	end = strrchr(text.data, ')');
	return end && sscanf(end, ") %*c %d", &ppid) == 1 ? ppid : 0;
}

static void kill_children(void)
{
	LAB_CLEANUP(dir) DIR *dir = opendir("/proc");
	struct dirent *entry;
	int pid;

	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%d", &pid) == 1 && parent_of(entry->d_name) == getpid())
			kill(pid, SIGKILL);
	}
}

void spawn_kill_all(bool init, pid_t pid)
{
	if (init) {
		kill(-1, SIGKILL);
		return;
	}
	if (pid > 0)
		kill(-pid, SIGKILL);
	kill_children();
}
