#define _GNU_SOURCE
#include "include/unix_socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int vault_unix_path_limit(void) { return (int)sizeof(((struct sockaddr_un *)0)->sun_path) - 1; }

static int address(const char *path, struct sockaddr_un *to) {
  size_t length = strlen(path);
  if (length == 0 || length > (size_t)vault_unix_path_limit()) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memset(to, 0, sizeof *to);
  to->sun_family = AF_UNIX;
  memcpy(to->sun_path, path, length);
  return 0;
}

static int fail(int descriptor) {
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int vault_unix_connect(const char *path, int64_t milliseconds) {
  struct sockaddr_un to;
  if (address(path, &to) != 0) return -1;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  // A server that accepts nobody would hold us here; the time counts for each later write too.
  if (milliseconds > 0) {
    struct timeval time = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
    if (setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) != 0)
      return fail(descriptor);
  }
  while (connect(descriptor, (struct sockaddr *)&to, sizeof to) != 0) {
    if (errno != EINTR) return fail(descriptor);
  }
  return descriptor;
}

int vault_unix_listen(const char *path, uint32_t mode, int backlog) {
  struct sockaddr_un to;
  if (address(path, &to) != 0) return -1;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  // The file has its mode when it appears: between a bind and a chmod anybody could connect.
  mode_t before = umask(0777 & ~(mode_t)mode);
  int bound = bind(descriptor, (struct sockaddr *)&to, sizeof to);
  umask(before);
  if (bound != 0 || listen(descriptor, backlog) != 0) return fail(descriptor);
  return descriptor;
}

int vault_unix_peer(int descriptor, uint32_t *user, uint32_t *group, int32_t *process) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  *user = peer.uid;
  *group = peer.gid;
  *process = peer.pid;
  return 0;
}

static int64_t now_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

ssize_t vault_socket_read(int descriptor, uint8_t *buffer, size_t capacity, int64_t milliseconds) {
  int64_t end = milliseconds < 0 ? 0 : now_milliseconds() + milliseconds;
  for (;;) {
    int64_t left = milliseconds < 0 ? -1 : end - now_milliseconds();
    if (milliseconds >= 0 && left < 0) left = 0;
    struct pollfd wait = {.fd = descriptor, .events = POLLIN};
    int ready = poll(&wait, 1, left > 1000000 ? 1000000 : (int)left);
    if (ready < 0 && errno != EINTR) return -1;
    if (ready > 0) {
      ssize_t count = recv(descriptor, buffer, capacity, 0);
      if (count >= 0 || (errno != EINTR && errno != EAGAIN)) return count;
    } else if (milliseconds >= 0 && now_milliseconds() >= end) {
      errno = ETIMEDOUT;
      return -1;
    }
  }
}

int vault_socket_is_quiet(int descriptor) {
  struct pollfd wait = {.fd = descriptor, .events = POLLIN | POLLRDHUP};
  return poll(&wait, 1, 0) == 0;
}

void vault_socket_cut(int descriptor) { shutdown(descriptor, SHUT_RDWR); }

int vault_socket_write(int descriptor, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = send(descriptor, bytes, count, MSG_NOSIGNAL);
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? ETIMEDOUT : errno;
    }
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

int vault_errno(void) { return errno; }

void vault_wipe(void *bytes, size_t count) { explicit_bzero(bytes, count); }
