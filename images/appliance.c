/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only file that knows libguestfs. Backend "direct": no libvirt daemon is in the way
 * of making an image. What the library and its appliance say goes to the log.
 */
#include "images/appliance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <guestfs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"

enum { MEMORY_MIB = 512, MAX_CPUS = 4, WATCH_MS = 200 };

struct session {
	const struct appliance *appliance;
	guestfs_h *g;
	int log;
	uint64_t total; /* bytes of the tar */
	int percent;
	pid_t thread; /* that launches: QEMU is its child */
	pthread_t watcher;
	bool watching;
	atomic_bool stop_watching;
	atomic_bool launched;
	atomic_bool cancelled;
};

static void say(const struct session *session, const char *text)
{
	const struct image_progress *progress = session->appliance->progress;

	if (progress && progress->say)
		progress->say(progress->ctx, "image", text);
}

/* ---- cancelling ---------------------------------------------------------- */

static bool is_qemu(const char *pid)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("/proc/%s/comm", pid);
	LAB_CLEANUP(buf) struct lab_buf name = LAB_BUF_INIT;

	return lab_read_file(path, 4096, &name, NULL) == 0 && name.len &&
	       lab_starts_with(name.data, "qemu");
}

/* libguestfs cannot be told to give up a launch, but it notices when its QEMU is gone. */
static void kill_starting_qemu(const struct session *session)
{
	LAB_CLEANUP(free)
	char *path = lab_asprintf("/proc/self/task/%d/children", (int)session->thread);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv pids = LAB_STRV_INIT;

	if (lab_read_file(path, 65536, &text, NULL) < 0)
		return;
	lab_strv_split(&pids, text.data ? text.data : "", " \n");
	for (size_t i = 0; i < pids.n; i++) {
		int64_t pid;

		if (is_qemu(pids.items[i]) && lab_parse_i64(pids.items[i], &pid, NULL) == 0)
			kill((pid_t)pid, SIGKILL);
	}
}

static void *watch(void *ctx)
{
	struct session *session = ctx;
	const struct image_progress *progress = session->appliance->progress;

	while (!session->stop_watching) {
		lab_sleep_ms(WATCH_MS);
		if (!session->cancelled && !progress->cancelled(progress->ctx))
			continue;
		session->cancelled = true;
		if (session->launched)
			guestfs_user_cancel(session->g); /* may be called from any thread */
		else
			kill_starting_qemu(session);
	}
	return NULL;
}

static void start_watcher(struct session *session)
{
	const struct image_progress *progress = session->appliance->progress;

	session->thread = (pid_t)syscall(SYS_gettid);
	if (progress && progress->cancelled)
		session->watching = pthread_create(&session->watcher, NULL, watch, session) == 0;
}

static void stop_watcher(struct session *session)
{
	session->stop_watching = true;
	if (session->watching)
		pthread_join(session->watcher, NULL);
	session->watching = false;
}

/* ---- what the library says ----------------------------------------------- */

static void on_message(guestfs_h *g, void *ctx, uint64_t event, int handle, int flags,
		       const char *text, size_t len, const uint64_t *array, size_t array_len)
{
	struct session *session = ctx;

	(void)g;
	(void)event;
	(void)handle;
	(void)flags;
	(void)array;
	(void)array_len;
	if (session->log >= 0 && lab_write_all(session->log, text, len, NULL) < 0)
		session->log = (close(session->log), -1);
}

static void on_progress(guestfs_h *g, void *ctx, uint64_t event, int handle, int flags,
			const char *text, size_t len, const uint64_t *array, size_t array_len)
{
	struct session *session = ctx;
	LAB_CLEANUP(free) char *line = NULL;
	int percent;

	(void)g;
	(void)event;
	(void)handle;
	(void)flags;
	(void)text;
	(void)len;
	/* proc_nr, serial, position, total; during the launch they only tell that time passes. */
	if (!session->launched || array_len < 4 || !array[3])
		return;
	percent = (int)(array[2] * 100 / array[3]);
	if (percent == session->percent)
		return;
	session->percent = percent;
	line = lab_asprintf("writing the tree, %d %%", percent);
	say(session, line);
}

/* What is known to go wrong, as people meet it, and what helps. */
static const struct {
	const char *said;
	const char *meaning;
	bool without_tcg_only;
} known[] = {
	{"appliance closed the connection",
	 "the appliance died while it started: no guest runs on "
	 "this host's /dev/kvm (labctl doctor tries it)",
	 true},
	{"appliance closed the connection",
	 "the appliance died while it started: too little memory, or a kernel that does not suit it "
	 "(SUPERMIN_KERNEL=FILE and SUPERMIN_MODULES=DIR name another)",
	 false},
	{"supermin",
	 "supermin cannot make the appliance: it needs a kernel in /boot that this user "
	 "can read, with its modules (chmod 0644 /boot/vmlinuz-*; or SUPERMIN_KERNEL=FILE "
	 "and SUPERMIN_MODULES=DIR name another)",
	 false},
	{"cannot find any suitable libguestfs", "apt-get install libguestfs0 supermin", false},
	{"No space left", "the disk is full: that of the lab, or the image's 'size' is too small",
	 false},
};

int appliance_explain(const struct appliance *appliance, const char *said, struct lab_error *err)
{
	/* The library ends with advice that does not hold for its callers. */
	const char *advice = strstr(said, "\nTo see full error messages");
	int len = (int)(advice ? (size_t)(advice - said) : strlen(said));
	LAB_CLEANUP(buf) struct lab_buf log = LAB_BUF_INIT;

	if (appliance->log)
		lab_buf_addf(&log, " (log: %s; LIBGUESTFS_DEBUG=1 writes more of it)",
			     appliance->log);
	for (size_t i = 0; i < LAB_COUNT(known); i++) {
		if (!strstr(said, known[i].said) ||
		    (known[i].without_tcg_only && appliance->force_tcg))
			continue;
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "libguestfs: %.*s: %s%s", len, said,
				     known[i].meaning, log.data ? log.data : "");
	}
	return lab_error_set(err, LAB_ERR_FAILED, "libguestfs: %.*s%s", len, said,
			     log.data ? log.data : "");
}

static int fail(struct session *session, const char *doing, struct lab_error *err)
{
	const struct image_progress *progress = session->appliance->progress;
	const char *said = guestfs_last_error(session->g);

	/* The interrupt key reaches QEMU at the same time as us. */
	if (session->cancelled ||
	    (progress && progress->cancelled && progress->cancelled(progress->ctx)))
		return lab_error_set(err, LAB_ERR_CANCELLED, "stopped while %s", doing);
	return appliance_explain(session->appliance, said ? said : doing, err);
}

/* ---- the work ------------------------------------------------------------ */

static unsigned cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > MAX_CPUS ? MAX_CPUS : (unsigned)n;
}

static int configure(struct session *session)
{
	const struct appliance *appliance = session->appliance;
	guestfs_h *g = session->g;

	guestfs_set_error_handler(g, NULL, NULL); /* the default one prints */
	if (guestfs_set_event_callback(g, on_message,
				       GUESTFS_EVENT_LIBRARY | GUESTFS_EVENT_APPLIANCE |
					       GUESTFS_EVENT_WARNING | GUESTFS_EVENT_TRACE,
				       0, session) < 0 ||
	    guestfs_set_event_callback(g, on_progress, GUESTFS_EVENT_PROGRESS, 0, session) < 0 ||
	    guestfs_set_backend(g, "direct") < 0 || guestfs_set_network(g, 0) < 0 ||
	    guestfs_set_memsize(g, MEMORY_MIB) < 0 || guestfs_set_smp(g, (int)cpus()) < 0)
		return -1;
	if (appliance->force_tcg && guestfs_set_backend_setting(g, "force_tcg", "1") < 0)
		return -1;
	if (appliance->tmp && guestfs_set_tmpdir(g, appliance->tmp) < 0)
		return -1;
	/* Another kernel makes another appliance, which must not stay in the common cache. */
	if (appliance->kernel && appliance->tmp && guestfs_set_cachedir(g, appliance->tmp) < 0)
		return -1;
	if (!appliance->disk)
		return guestfs_add_drive_scratch(g, 1 << 20, -1);
	/* Flushed by the shutdown: until then a crash loses the draft anyway. */
	return guestfs_add_drive_opts(g, appliance->disk, GUESTFS_ADD_DRIVE_OPTS_FORMAT, "raw",
				      GUESTFS_ADD_DRIVE_OPTS_CACHEMODE, "unsafe",
				      GUESTFS_ADD_DRIVE_OPTS_DISCARD, "besteffort", -1);
}

static int fill(struct session *session, struct lab_error *err)
{
	const struct appliance *appliance = session->appliance;
	guestfs_h *g = session->g;

	if (!appliance->disk)
		return 0;
	say(session, "writing the tree");
	if (guestfs_mount_options(g, "noatime", "/dev/sda", "/") < 0 ||
	    guestfs_tar_in(g, appliance->tar, "/") < 0 || guestfs_umount_all(g) < 0)
		return fail(session, "the tree was written", err);
	return 0;
}

static int work(struct session *session, struct lab_error *err)
{
	if (configure(session) < 0)
		return fail(session, "the appliance was set up", err);
	start_watcher(session);
	say(session, "starting the libguestfs appliance");
	if (guestfs_launch(session->g) < 0)
		return fail(session, "the appliance started", err);
	session->launched = true;
	if (fill(session, err) < 0)
		return -1;
	if (session->cancelled)
		return fail(session, "the tree was written", err);
	if (guestfs_shutdown(session->g) < 0) /* its success says that all is on the disk */
		return fail(session, "the appliance stopped", err);
	return 0;
}

int appliance_run(const struct appliance *appliance, struct lab_error *err)
{
	struct session session = {.appliance = appliance, .log = -1};
	LAB_CLEANUP(free) char *cure = NULL;
	int rc;

	/* supermin is a child and knows no other way to be told. */
	if (appliance->kernel &&
	    (setenv("SUPERMIN_KERNEL", appliance->kernel, 1) < 0 ||
	     (appliance->modules && setenv("SUPERMIN_MODULES", appliance->modules, 1) < 0)))
		return lab_error_errno(err, errno, "set SUPERMIN_KERNEL");
	if (!getenv("SUPERMIN_KERNEL")) {
		LAB_CLEANUP(free) char *kernel = appliance_kernel("/boot", "/lib/modules", &cure);

		if (!kernel)
			return lab_error_set(err, LAB_ERR_UNAVAILABLE, "libguestfs: %s", cure);
	}
	session.g = guestfs_create();
	if (!session.g)
		return lab_error_errno(err, errno, "libguestfs does not start");
	if (appliance->log)
		session.log = open(appliance->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	rc = work(&session, err);
	stop_watcher(&session);
	guestfs_close(session.g); /* ends QEMU in whatever state it is */
	if (session.log >= 0)
		close(session.log);
	return rc;
}

char *appliance_version(void)
{
	guestfs_h *g = guestfs_create();
	struct guestfs_version *version = g ? guestfs_version(g) : NULL;
	char *text = NULL;

	if (version) {
		text = lab_asprintf("%lld.%lld.%lld", (long long)version->major,
				    (long long)version->minor, (long long)version->release);
		guestfs_free_version(version);
	}
	if (g)
		guestfs_close(g);
	return text;
}

char *appliance_kernel(const char *boot, const char *modules, char **ret_cure)
{
	LAB_CLEANUP(dir) DIR *dir = opendir(boot);
	LAB_CLEANUP(free) char *unreadable = NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		LAB_CLEANUP(free) char *path = lab_path_join(boot, entry->d_name);
		LAB_CLEANUP(free) char *tree = NULL;

		if (!lab_starts_with(entry->d_name, "vmlinuz-"))
			continue;
		tree = lab_path_join(modules, entry->d_name + strlen("vmlinuz-"));
		if (!lab_dir_exists(tree))
			continue;
		if (access(path, R_OK) == 0)
			return LAB_TAKE(path);
		free(unreadable);
		unreadable = LAB_TAKE(path);
	}
	if (unreadable)
		*ret_cure = lab_asprintf("this user cannot read %s: chmod 0644 %s (Debian and "
					 "derivatives keep that with dpkg-statoverride --update "
					 "--add root root 0644 %s), or name another with "
					 "SUPERMIN_KERNEL=FILE SUPERMIN_MODULES=DIR",
					 unreadable, unreadable, unreadable);
	else
		*ret_cure = lab_asprintf("no kernel with modules in %s: apt-get install "
					 "linux-image-cloud-amd64, or name one with "
					 "SUPERMIN_KERNEL=FILE SUPERMIN_MODULES=DIR",
					 boot);
	return NULL;
}
