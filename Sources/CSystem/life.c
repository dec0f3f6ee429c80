#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "life.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptors.h"

static int signal_pipe = -1;

static void put_signal(int number) {
  int error = errno;
  unsigned char byte = (unsigned char)number;
  // A full pipe holds enough signals already.
  ssize_t ignored = write(signal_pipe, &byte, 1);
  (void)ignored;
  errno = error;
}

int vault_signals_open(void) {
  int ends[2];
  if (vault_open_wake(ends) != 0) return -1;
  signal_pipe = ends[1];
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = put_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  const int numbers[] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
        before.sa_handler == SIG_IGN)
      continue;
    sigaction(numbers[i], &action, NULL);
  }
  // Whoever started this process may have had them blocked.
  sigset_t wanted;
  sigemptyset(&wanted);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&wanted, numbers[i]);
  pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
  return ends[0];
}

int vault_signals_next(int descriptor) {
  unsigned char byte;
  for (;;) {
    ssize_t count = read(descriptor, &byte, 1);
    if (count == 1) return byte;
    if (count < 0 && errno == EINTR) continue;
    return 0;
  }
}

int vault_process_descriptor(pid_t process) {
  // Closed on exec by itself.
  return (int)syscall(SYS_pidfd_open, process, 0);
}

void vault_wake_up(int descriptor) {
  unsigned char byte = 1;
  ssize_t ignored = write(descriptor, &byte, 1);
  (void)ignored;
}

pid_t vault_session_leader(void) {
  pid_t leader = getsid(0);
  return leader > 1 && leader != getpid() ? leader : 0;
}

int vault_hold_file(const char *path, uint64_t *device, uint64_t *inode) {
  int descriptor = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat found;
  if (fstat(descriptor, &found) != 0) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
  }
  *device = found.st_dev;
  *inode = found.st_ino;
  return descriptor;
}

int vault_notify(const char *address, const char *text) {
  struct sockaddr_un to;
  size_t length = strlen(address);
  if (length < 2 || length >= sizeof to.sun_path || (address[0] != '/' && address[0] != '@'))
    return EINVAL;
  memset(&to, 0, sizeof to);
  to.sun_family = AF_UNIX;
  memcpy(to.sun_path, address, length);
  if (address[0] == '@') to.sun_path[0] = '\0';
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  // A manager that takes no more does not hold us up.
  ssize_t sent = sendto(descriptor, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
                        (struct sockaddr *)&to,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  int error = sent < 0 ? errno : 0;
  close(descriptor);
  return error;
}

static int option(int descriptor, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

int vault_take_listener(int descriptor) {
  if (option(descriptor, SO_DOMAIN) != AF_UNIX || option(descriptor, SO_TYPE) != SOCK_STREAM ||
      option(descriptor, SO_ACCEPTCONN) != 1)
    return 0;
  int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 &&
         fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

int vault_socket_path(int descriptor, char *path, size_t capacity) {
  // The kernel may leave out the NUL of the longest path.
  union {
    struct sockaddr_un address;
    char room[sizeof(struct sockaddr_un) + 1];
  } at;
  memset(&at, 0, sizeof at);
  socklen_t length = sizeof at.address;
  if (getsockname(descriptor, (struct sockaddr *)&at.address, &length) != 0) return errno;
  size_t count = strlen(at.address.sun_path);
  if (count >= capacity) return ENAMETOOLONG;
  memcpy(path, at.address.sun_path, count + 1);
  return 0;
}

int vault_give_to_group(const char *path, uint32_t group, uint32_t mode) {
  if (fchownat(AT_FDCWD, path, (uid_t)-1, group, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  // After the group, so that the one before it is let in at no moment.
  return chmod(path, (mode_t)mode) == 0 ? 0 : errno;
}

int vault_group_number(const char *name, uint32_t *group) {
  size_t room = 4096;
  for (;;) {
    char *buffer = malloc(room);
    if (buffer == NULL) return ENOMEM;
    struct group entry, *found = NULL;
    int error = getgrnam_r(name, &entry, buffer, room, &found);
    if (found != NULL) *group = entry.gr_gid;
    free(buffer);
    if (error == ERANGE && room < 1 << 20) {
      room *= 4;
      continue;
    }
    return error != 0 ? error : found == NULL ? ENOENT : 0;
  }
}

int vault_leave_terminal(void) {
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return errno;
  int error = 0;
  for (int number = 0; number < 3 && error == 0; number++) {
    if (dup2(nowhere, number) < 0) error = errno;
  }
  if (nowhere > 2) close(nowhere);
  return error;
}

int vault_count_descriptors(void) {
  DIR *directory = opendir("/proc/self/fd");
  if (directory == NULL) return 0;
  int count = -1;  // the directory's own
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (entry->d_name[0] != '.') count++;
  }
  closedir(directory);
  return count;
}

uint32_t vault_wait_readable(const int32_t *descriptors, int32_t count, int64_t milliseconds) {
  struct pollfd watched[32];
  if (count > 32) count = 32;
  for (int32_t i = 0; i < count; i++) {
    watched[i].fd = descriptors[i];
    watched[i].events = POLLIN;
    watched[i].revents = 0;
  }
  int limit = milliseconds < 0 ? -1 : milliseconds > 3600000 ? 3600000 : (int)milliseconds;
  uint32_t ready = 0;
  if (poll(watched, (nfds_t)count, limit) > 0) {
    for (int32_t i = 0; i < count; i++) {
      if (watched[i].revents != 0) ready |= UINT32_C(1) << i;
    }
  }
  return ready;
}
