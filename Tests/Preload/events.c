/* Preloaded into a process: tells each change that it makes to files below EVENT_ROOT, in order.
 *
 * EVENT_LOG=FILE   appends one record for each event, with the bytes that were written
 * EVENT_KILL=N     sends SIGKILL to the process just before its N-th event, which then never happens
 *
 * What goes to the standard output is an event too: it is when something leaves.
 *
 * A record is a header of six 64-bit words (kind, inode, offset, length of the data, lengths of two
 * paths), then the paths, then the data. Shared memory (-shm) is no file and is left out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int log_fd = -1;
static long count, kill_at = -1;
static char root[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("EVENT_ROOT");
  if (text) snprintf(root, sizeof root, "%s", text);
  if ((text = getenv("EVENT_KILL"))) kill_at = atol(text);
  if ((text = getenv("EVENT_LOG")))
    log_fd = syscall(SYS_openat, AT_FDCWD, text, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  unsetenv("LD_PRELOAD");
}

static int ours(const char *path) {
  size_t length = strlen(root), all = path ? strlen(path) : 0;
  if (!length || all < length || strncmp(path, root, length)) return 0;
  if (path[length] && path[length] != '/') return 0;
  return all < 4 || strcmp(path + all - 4, "-shm");
}

static void out(const void *bytes, size_t length) {
  while (length) {
    long done = syscall(SYS_write, log_fd, bytes, length);
    if (done <= 0) abort();
    bytes = (const char *)bytes + done;
    length -= done;
  }
}

static void event(char kind, uint64_t inode, int64_t offset, const void *data, size_t length,
                  const char *path, const char *other) {
  if (++count == kill_at) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  if (log_fd < 0) return;
  uint64_t header[6] = {kind, inode, offset, length, strlen(path), other ? strlen(other) : 0};
  out(header, sizeof header);
  out(path, strlen(path));
  if (other) out(other, strlen(other));
  if (data) out(data, length);
}

/* The path and facts of an open file, if it is one to be told of. */
static int known(int fd, char *path, struct stat *facts) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (!ours(path)) return 0;
  return fstat(fd, facts) == 0 && (S_ISREG(facts->st_mode) || S_ISDIR(facts->st_mode));
}

#define REAL(name)                                                                              \
  static __typeof__(&name) real;                                                                \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int opened(int fd, const char *path, int existed) {
  char full[PATH_MAX];
  struct stat facts;
  if (fd >= 0 && !existed && path && known(fd, full, &facts) && S_ISREG(facts.st_mode))
    event('C', facts.st_ino, 0, NULL, 0, full, NULL);
  return fd;
}

/* A creation is told after it was done: before, there is no inode. A kill at it leaves the file. */
#define OPEN(name)                                                                              \
  int name(const char *path, int flags, ...) {                                                  \
    va_list rest;                                                                               \
    va_start(rest, flags);                                                                      \
    mode_t mode = va_arg(rest, mode_t);                                                         \
    va_end(rest);                                                                               \
    REAL(name);                                                                                 \
    int existed = !(flags & O_CREAT) || access(path, F_OK) == 0;                                \
    return opened(real(path, flags, mode), path, existed);                                      \
  }
OPEN(open)
OPEN(open64)

#define WRITE(name, offset_type)                                                                \
  ssize_t name(int fd, const void *data, size_t length, offset_type offset) {                   \
    REAL(name);                                                                                 \
    char path[PATH_MAX];                                                                        \
    struct stat facts;                                                                          \
    if (known(fd, path, &facts)) event('W', facts.st_ino, offset, data, length, path, NULL);    \
    return real(fd, data, length, offset);                                                      \
  }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
  REAL(write);
  char path[PATH_MAX];
  struct stat facts;
  if (fd == 1 && root[0]) event('O', 0, 0, data, length, "output", NULL);
  if (fd > 2 && known(fd, path, &facts)) {
    int64_t offset = lseek(fd, 0, SEEK_CUR);
    if (fcntl(fd, F_GETFL) & O_APPEND) offset = facts.st_size;
    event('W', facts.st_ino, offset, data, length, path, NULL);
  }
  return real(fd, data, length);
}

#define TRUNCATE(name, size_type)                                                               \
  int name(int fd, size_type size) {                                                            \
    REAL(name);                                                                                 \
    char path[PATH_MAX];                                                                        \
    struct stat facts;                                                                          \
    if (known(fd, path, &facts)) event('T', facts.st_ino, size, NULL, 0, path, NULL);           \
    return real(fd, size);                                                                      \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

/* A sync is told once it is done, and is a point to be killed at before it is. */
#define SYNC(name)                                                                              \
  int name(int fd) {                                                                            \
    REAL(name);                                                                                 \
    char path[PATH_MAX];                                                                        \
    struct stat facts;                                                                          \
    int is_known = known(fd, path, &facts);                                                     \
    if (is_known && count + 1 == kill_at)                                                       \
      event('S', facts.st_ino, 0, NULL, 0, path, NULL);                                         \
    int result = real(fd);                                                                      \
    if (is_known && result == 0)                                                                \
      event(S_ISDIR(facts.st_mode) ? 'D' : 'S', facts.st_ino, 0, NULL, 0, path, NULL);          \
    return result;                                                                              \
  }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
  REAL(unlink);
  if (ours(path)) event('U', 0, 0, NULL, 0, path, NULL);
  return real(path);
}

int rename(const char *old, const char *new) {
  REAL(rename);
  if (ours(old) || ours(new)) event('R', 0, 0, NULL, 0, old, new);
  return real(old, new);
}

int link(const char *old, const char *new) {
  REAL(link);
  if (ours(old) || ours(new)) event('L', 0, 0, NULL, 0, old, new);
  return real(old, new);
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  if (ours(path)) event('M', 0, 0, NULL, 0, path, NULL);
  return real(path, mode);
}
