#ifndef VAULT_CSYSTEM_H
#define VAULT_CSYSTEM_H

// What Swift cannot import of the C library and the kernel: variadic calls, constants behind
// _GNU_SOURCE, signal handler casts.

#include <fcntl.h>
#include <stdint.h>

#include "descriptors.h"
#include "interrupts.h"
#include "life.h"
#include "prompt.h"
#include "spawn_command.h"
#include "unix_socket.h"
#include "words.h"

static inline int vault_open(const char *path, int flags, int mode) {
  return open(path, flags, mode);
}

/// Takes an exclusive open-file-description lock on one byte. 0, or -1 with errno.
int vault_ofd_lock(int descriptor, int64_t byte, int wait);

/// Gives the byte free at once, also where a child that has not replaced itself yet shares the
/// descriptor. 0, or -1 with errno.
int vault_ofd_unlock(int descriptor, int64_t byte);

/// `f_type` of statfs(2), whose name Swift cannot tell from its structure's. 0, or -1 with errno.
int vault_file_system_magic(const char *path, uint32_t *magic);

/// No core dump and no ptrace by the same user. 0, or -1 with errno.
int vault_not_dumpable(void);

/// 1 while this process can dump core and be traced by its own user, 0 when not.
int vault_is_dumpable(void);

/// Ignores `signal`, and tells whether it had its default action before. 1, 0, or -1 with errno.
int vault_ignore_signal(int signal);

/// Gives `signal` its default action back. 0, or -1 with errno.
int vault_default_signal(int signal);

#endif
