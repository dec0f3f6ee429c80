#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CSystem.h"

#include <time.h>

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

int vault_ofd_lock(int descriptor, int64_t byte, int wait) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);  // l_pid must be 0 for an OFD lock
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
}

int vault_ofd_unlock(int descriptor, int64_t byte) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = F_UNLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int vault_file_system_magic(const char *path, uint32_t *magic) {
  struct statfs status;
  if (statfs(path, &status) != 0) return -1;
  *magic = (uint32_t)status.f_type;
  return 0;
}

int vault_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int vault_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1; }

int vault_ignore_signal(int number) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_IGN;
  if (sigaction(number, &action, &before) != 0) return -1;
  return before.sa_handler == SIG_DFL ? 1 : 0;
}

int vault_default_signal(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  return sigaction(number, &action, NULL);
}

