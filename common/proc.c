/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"

enum { TICK_MS = 200, DEFAULT_CAP = 1 << 20, EXEC_FAILED = 127, GRACE_MS = 2000 };

struct stream {
	int fd;
	bool is_stderr;
	struct lab_buf *kept;
	struct lab_buf line;
};

struct child {
	const struct lab_proc *proc;
	pid_t pid;
	int in;
	size_t in_done;
	struct stream streams[2];
	int log;
	size_t cap;
	bool reaped;
};

char *lab_proc_which(const char *name)
{
	LAB_CLEANUP(strv) struct lab_strv dirs = LAB_STRV_INIT;
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? lab_strdup(name) : NULL;
	lab_strv_split(&dirs, path ? path : "/usr/bin:/bin", ":");
	lab_strv_add(&dirs, "/usr/sbin");
	lab_strv_add(&dirs, "/sbin");
	for (size_t i = 0; i < dirs.n; i++) {
		LAB_CLEANUP(free) char *full = lab_path_join(dirs.items[i], name);

		if (lab_file_exists(full) && access(full, X_OK) == 0)
			return LAB_TAKE(full);
	}
	return NULL;
}

/* In the child, between fork and exec: only async-signal-safe calls. */
static void become_program(const struct lab_proc *proc, const char *path, int in, int out, int err,
			   pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXEC_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* What we or our parent ignore is not passed on. */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(EXEC_FAILED);
	if (proc->drop_privileges &&
	    (setgroups(0, NULL) < 0 || setgid(proc->gid) < 0 || setuid(proc->uid) < 0))
		_exit(EXEC_FAILED);
	if (proc->cwd && chdir(proc->cwd) < 0)
		_exit(EXEC_FAILED);
	if (proc->env)
		execve(path, (char *const *)proc->argv, (char *const *)proc->env);
	else
		execv(path, (char *const *)proc->argv);
	_exit(EXEC_FAILED);
}

static int start(struct child *child, const char *path, struct lab_error *err)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, errs[2] = {-1, -1};
	pid_t parent = getpid();

	if (child->proc->input ? pipe2(in, O_CLOEXEC) < 0
			       : (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
		goto fail;
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errs, O_CLOEXEC) < 0)
		goto fail;
	child->pid = fork();
	if (child->pid < 0)
		goto fail;
	if (child->pid == 0)
		become_program(child->proc, path, in[0], out[1], errs[1], parent);
	setpgid(child->pid, child->pid);
	close(in[0]);
	close(out[1]);
	close(errs[1]);
	child->in = in[1];
	child->streams[0].fd = out[0];
	child->streams[1].fd = errs[0];
	if (child->in >= 0)
		fcntl(child->in, F_SETFL, O_NONBLOCK);
	return 0;
fail:
	lab_error_errno(err, errno, "start %s", path);
	for (int i = 0; i < 2; i++) {
		if (in[i] >= 0)
			close(in[i]);
		if (out[i] >= 0)
			close(out[i]);
		if (errs[i] >= 0)
			close(errs[i]);
	}
	return -1;
}

static void emit_lines(struct child *child, struct stream *stream, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] != '\n') {
			/* A line without an end is cut rather than kept growing. */
			if (stream->line.len < 65536)
				lab_buf_addc(&stream->line, data[i]);
			continue;
		}
		child->proc->on_line(child->proc->ctx, stream->is_stderr,
				     stream->line.data ? stream->line.data : "");
		stream->line.len = 0;
		if (stream->line.data)
			stream->line.data[0] = '\0';
	}
}

static void read_stream(struct child *child, struct stream *stream)
{
	char chunk[16384];
	ssize_t n = read(stream->fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		if (child->proc->on_line && stream->line.len)
			emit_lines(child, stream, "\n", 1);
		close(stream->fd);
		stream->fd = -1;
		return;
	}
	if (child->log >= 0 && write(child->log, chunk, (size_t)n) < 0) {
		close(child->log); /* a full disk must not end the child */
		child->log = -1;
	}
	if (stream->kept->len < child->cap) {
		size_t room = child->cap - stream->kept->len;

		lab_buf_add(stream->kept, chunk, (size_t)n < room ? (size_t)n : room);
	}
	if (child->proc->on_line)
		emit_lines(child, stream, chunk, (size_t)n);
}

static void write_input(struct child *child)
{
	size_t left = child->proc->input_len - child->in_done;
	ssize_t n = left ? write(child->in, child->proc->input + child->in_done, left) : 0;

	if (n > 0)
		child->in_done += (size_t)n;
	if (child->in_done == child->proc->input_len ||
	    (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(child->in);
		child->in = -1;
	}
}

static void wait_io(struct child *child, int timeout_ms)
{
	struct pollfd fds[3];
	struct stream *streams[3] = {NULL};
	nfds_t n = 0;

	for (int i = 0; i < 2; i++) {
		if (child->streams[i].fd < 0)
			continue;
		fds[n] = (struct pollfd){child->streams[i].fd, POLLIN, 0};
		streams[n++] = &child->streams[i];
	}
	if (child->in >= 0)
		fds[n++] = (struct pollfd){child->in, POLLOUT, 0};
	if (poll(fds, n, timeout_ms) <= 0)
		return;
	for (nfds_t i = 0; i < n; i++) {
		if (!fds[i].revents)
			continue;
		if (streams[i])
			read_stream(child, streams[i]);
		else
			write_input(child);
	}
}

static void reap(struct child *child, struct lab_proc_result *result, int flags)
{
	struct rusage usage;
	int status;

	if (child->reaped || wait4(child->pid, &status, flags, &usage) != child->pid)
		return;
	child->reaped = true;
	result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	result->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Reads until the child is gone and its pipes are closed, or a reason to end it comes up. */
static void supervise(struct child *child, struct lab_proc_result *result)
{
	uint64_t deadline = lab_deadline_in(child->proc->timeout_ms);
	uint64_t next_tick = lab_now_ms() + TICK_MS;
	uint64_t grace = 0; /* when to kill what did not heed SIGTERM, or holds our pipes */

	while (!child->reaped || child->streams[0].fd >= 0 || child->streams[1].fd >= 0) {
		uint64_t now;
		bool busy = child->streams[0].fd >= 0 || child->streams[1].fd >= 0;

		wait_io(child, busy && !child->reaped ? TICK_MS : 20);
		reap(child, result, WNOHANG);
		now = lab_now_ms();
		if (child->reaped && !grace)
			grace = now + GRACE_MS;
		if (!child->reaped && !result->timed_out && deadline && now >= deadline) {
			result->timed_out = true;
			kill(-child->pid, SIGTERM);
			grace = now + GRACE_MS;
		}
		if (!result->timed_out && !result->cancelled && !child->reaped &&
		    child->proc->on_tick && now >= next_tick) {
			next_tick = now + TICK_MS;
			if (child->proc->on_tick(child->proc->ctx)) {
				result->cancelled = true;
				kill(-child->pid, SIGTERM);
				grace = now + GRACE_MS;
			}
		}
		if (grace && now >= grace) {
			kill(-child->pid, SIGKILL);
			reap(child, result, 0);
			break;
		}
	}
}

int lab_proc_run(const struct lab_proc *proc, struct lab_proc_result *result, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_proc_which(proc->argv[0]);
	struct child child = {.proc = proc, .in = -1, .log = -1};
	uint64_t began = lab_now_ms();
	int rc;

	*result = (struct lab_proc_result){.exit_code = -1};
	if (!path)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "program '%s' is not installed",
				     proc->argv[0]);
	if (proc->log_path) {
		child.log = open(proc->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		if (child.log < 0)
			return lab_error_errno(err, errno, "open log %s", proc->log_path);
	}
	child.cap = proc->output_cap ? proc->output_cap : DEFAULT_CAP;
	child.streams[0] = (struct stream){-1, false, &result->out, LAB_BUF_INIT};
	child.streams[1] = (struct stream){-1, true, &result->err, LAB_BUF_INIT};
	rc = start(&child, path, err);
	if (rc == 0)
		supervise(&child, result);
	for (int i = 0; i < 2; i++) {
		if (child.streams[i].fd >= 0)
			close(child.streams[i].fd);
		lab_buf_release(&child.streams[i].line);
	}
	if (child.in >= 0)
		close(child.in);
	if (child.log >= 0)
		close(child.log);
	result->wall_ms = lab_now_ms() - began;
	return rc;
}

/* The last line with something in it, or "". */
static char *last_line(const struct lab_buf *buf)
{
	size_t end = buf->len, begin;

	while (end && (buf->data[end - 1] == '\n' || buf->data[end - 1] == ' '))
		end--;
	for (begin = end; begin && buf->data[begin - 1] != '\n'; begin--)
		;
	return end ? lab_strndup(buf->data + begin, end - begin) : lab_strdup("");
}

int lab_proc_must(const struct lab_proc *proc, struct lab_proc_result *result,
		  struct lab_error *err)
{
	LAB_CLEANUP(free) char *line = NULL;

	if (lab_proc_run(proc, result, err) < 0)
		return -1;
	if (result->cancelled)
		return lab_error_set(err, LAB_ERR_CANCELLED, "%s stopped", proc->argv[0]);
	if (result->timed_out)
		return lab_error_set(err, LAB_ERR_TIMEOUT, "%s did not end within %llu s",
				     proc->argv[0], (unsigned long long)proc->timeout_ms / 1000);
	if (result->exit_code == 0)
		return 0;
	line = last_line(result->err.len ? &result->err : &result->out);
	if (result->signal)
		return lab_error_set(err, LAB_ERR_FAILED, "%s was killed by signal %d (%s)%s%s",
				     proc->argv[0], result->signal, strsignal(result->signal),
				     *line ? ": " : "", line);
	return lab_error_set(err, LAB_ERR_FAILED, "%s ended with exit code %d%s%s", proc->argv[0],
			     result->exit_code, *line ? ": " : "", line);
}

void lab_proc_result_release(struct lab_proc_result *result)
{
	lab_buf_release(&result->out);
	lab_buf_release(&result->err);
}
