/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/repo_writers.h"

#include <git2/sys/odb_backend.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "builder/repo_git.h"
#include "common/mem.h"

enum { MAX_THREADS = 8, MAX_JOBS = 4096, LEVEL = 1 };

static const size_t MAX_QUEUED = 64u << 20;

struct job {
	void *data;
	size_t len;
	git_oid *oid;
};

struct worker {
	struct repo_writers *owner;
	pthread_t thread;
	git_odb *odb; /* one each, so that none waits for another's lock */
};

struct repo_writers {
	pthread_mutex_t lock;
	pthread_cond_t filled, drained;
	struct job jobs[MAX_JOBS]; /* a ring */
	size_t first, n;
	size_t queued; /* bytes */
	bool closed;
	bool failed;
	struct lab_error error;
	struct worker workers[MAX_THREADS];
	unsigned started;
};

/* 1: a job was taken, 0: there will be none. */
static int take_job(struct repo_writers *w, struct job *job)
{
	int got;

	pthread_mutex_lock(&w->lock);
	while (!w->n && !w->closed)
		pthread_cond_wait(&w->filled, &w->lock);
	got = w->n > 0;
	if (got) {
		*job = w->jobs[w->first];
		w->first = (w->first + 1) % MAX_JOBS;
		w->n--;
		w->queued -= job->len;
		pthread_cond_signal(&w->drained);
	}
	pthread_mutex_unlock(&w->lock);
	return got;
}

static void fail(struct repo_writers *w, int rc)
{
	pthread_mutex_lock(&w->lock);
	if (!w->failed)
		repo_error(&w->error, rc, "write object");
	w->failed = true;
	pthread_cond_signal(&w->drained);
	pthread_mutex_unlock(&w->lock);
}

static void *run_worker(void *arg)
{
	struct worker *worker = arg;
	struct job job;

	while (take_job(worker->owner, &job)) {
		int rc = git_odb_write(job.oid, worker->odb, job.data, job.len, GIT_OBJECT_BLOB);

		free(job.data);
		if (rc < 0)
			fail(worker->owner, rc);
	}
	return NULL;
}

static int open_odb(const char *objects_dir, git_odb **ret_odb, struct lab_error *err)
{
	LAB_CLEANUP(git_odb) git_odb *odb = NULL;
	git_odb_backend *loose;
	int rc = git_odb_new(&odb);

	if (rc == 0)
		rc = git_odb_backend_loose(&loose, objects_dir, LEVEL, 0, 0, 0);
	if (rc == 0)
		rc = git_odb_add_backend(odb, loose, 1);
	if (rc < 0)
		return repo_error(err, rc, "%s", objects_dir);
	*ret_odb = LAB_TAKE(odb);
	return 0;
}

static unsigned count_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

int repo_writers_new(const char *objects_dir, struct repo_writers **ret_writers,
		     struct lab_error *err)
{
	LAB_CLEANUP(repo_writers) struct repo_writers *w = LAB_NEW(struct repo_writers);
	unsigned threads = count_threads();

	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->filled, NULL);
	pthread_cond_init(&w->drained, NULL);
	while (w->started < threads) {
		struct worker *worker = &w->workers[w->started];
		int errnum;

		worker->owner = w;
		if (open_odb(objects_dir, &worker->odb, err) < 0)
			return -1;
		errnum = pthread_create(&worker->thread, NULL, run_worker, worker);
		if (errnum) {
			git_odb_free(LAB_TAKE(worker->odb));
			return lab_error_errno(err, errnum, "start a thread");
		}
		w->started++;
	}
	*ret_writers = LAB_TAKE(w);
	return 0;
}

int repo_writers_add(struct repo_writers *w, void *data, size_t len, git_oid *oid,
		     struct lab_error *err)
{
	bool failed;

	pthread_mutex_lock(&w->lock);
	while (!w->failed && w->n && (w->n == MAX_JOBS || w->queued + len > MAX_QUEUED))
		pthread_cond_wait(&w->drained, &w->lock);
	failed = w->failed;
	if (!failed) {
		w->jobs[(w->first + w->n++) % MAX_JOBS] = (struct job){data, len, oid};
		w->queued += len;
		pthread_cond_signal(&w->filled);
	}
	pthread_mutex_unlock(&w->lock);
	if (!failed)
		return 0;
	free(data);
	return lab_error_set(err, w->error.kind, "%s", w->error.text);
}

static void stop(struct repo_writers *w)
{
	pthread_mutex_lock(&w->lock);
	w->closed = true;
	pthread_cond_broadcast(&w->filled);
	pthread_mutex_unlock(&w->lock);
	while (w->started) {
		struct worker *worker = &w->workers[--w->started];

		pthread_join(worker->thread, NULL);
		git_odb_free(worker->odb);
	}
}

int repo_writers_finish(struct repo_writers *w, struct lab_error *err)
{
	stop(w);
	if (w->failed)
		return lab_error_set(err, w->error.kind, "%s", w->error.text);
	return 0;
}

void repo_writers_free(struct repo_writers *w)
{
	if (!w)
		return;
	stop(w);
	pthread_cond_destroy(&w->filled);
	pthread_cond_destroy(&w->drained);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
