#define _GNU_SOURCE
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void vault_hold_standard_descriptors(void) {
  for (int i = 0; i <= 2; i++) {
    if (fcntl(i, F_GETFD) >= 0 || errno != EBADF) continue;
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0 && null != i) {  // cannot be: the lowest free number is taken
      dup2(null, i);
      close(null);
    }
  }
}

int vault_write_all(int descriptor, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t wrote = write(descriptor, bytes, count);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) {  // a pipe that somebody else made non-blocking
      struct pollfd watched = {.fd = descriptor, .events = POLLOUT};
      poll(&watched, 1, -1);
      continue;
    }
    if (wrote < 0) return errno;
    bytes += wrote;
    count -= (size_t)wrote;
  }
  return 0;
}

int vault_wait_while_read(int descriptor, int64_t milliseconds) {
  // No event is asked for: the end of the reader is told unasked.
  struct pollfd watched = {.fd = descriptor, .events = 0};
  int ready = poll(&watched, 1, (int)milliseconds);
  return ready > 0 && (watched.revents & (POLLERR | POLLHUP | POLLNVAL)) ? 0 : 1;
}

static int64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int vault_read_to_end(int descriptor, uint8_t *buffer, size_t capacity, int64_t milliseconds,
                      size_t *length) {
  int64_t deadline = milliseconds_now() + milliseconds;
  *length = 0;
  while (*length < capacity) {
    int64_t left = deadline - milliseconds_now();
    if (left <= 0) return ETIMEDOUT;
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    int ready = poll(&watched, 1, left > INT32_MAX ? INT32_MAX : (int)left);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return errno;
    if (ready == 0) continue;
    if (watched.revents & POLLNVAL) return EBADF;
    ssize_t got = read(descriptor, buffer + *length, capacity - *length);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    *length += (size_t)got;
  }
  return 0;
}

int vault_open_to_read(const char *path) {
  return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int vault_describe(int descriptor, struct vault_descriptor_facts *facts) {
  struct stat found;
  if (fstat(descriptor, &found) != 0) return errno;
  facts->kind = S_ISREG(found.st_mode)   ? VAULT_KIND_FILE
                : S_ISDIR(found.st_mode) ? VAULT_KIND_DIRECTORY
                : S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode) ? VAULT_KIND_PIPE
                                                                     : VAULT_KIND_OTHER;
  facts->mode = found.st_mode & 07777;
  facts->owner = found.st_uid;
  facts->size = found.st_size;
  return 0;
}

int vault_is_terminal(int descriptor) { return isatty(descriptor); }

int vault_terminal_columns(int descriptor) {
  struct winsize size;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

uint32_t vault_effective_user(void) { return geteuid(); }

void vault_close(int descriptor) { close(descriptor); }

const char *vault_error_text(int error, char *buffer, size_t capacity) {
  const char *text = strerrordesc_np(error);
  strncpy(buffer, text != NULL ? text : "unknown error", capacity - 1);
  buffer[capacity - 1] = 0;
  return buffer;
}

int vault_open_wake(int *ends) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }
