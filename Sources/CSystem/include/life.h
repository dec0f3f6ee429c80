#ifndef VAULT_LIFE_H
#define VAULT_LIFE_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What a process that stays needs of the kernel: signals as bytes, the end of another process, the
// sockets and the word of a service manager.

// From now on SIGTERM, SIGINT, SIGHUP and SIGUSR1 do nothing but put their number into a pipe, whose
// reading end is returned; it does not block. A SIGHUP that is ignored, as under nohup, stays so. -1
// with errno. Once in a process.
int vault_signals_open(void);

// The next signal that came; 0 where there is none.
int vault_signals_next(int descriptor);

// Puts a byte into a pipe of vault_open_wake. One that is full can be read already.
void vault_wake_up(int descriptor);

// A descriptor that can be read once `process` has ended, closed on exec. -1 with errno.
int vault_process_descriptor(pid_t process);

// The process that leads this one's session, where that is another; 0 where it is none.
pid_t vault_session_leader(void);

// Opens what is at `path`, a link itself, as a mere hold on it (O_PATH): it is not read, closing it
// drops no lock, and its inode is not given to another file meanwhile. -1 with errno.
int vault_hold_file(const char *path, uint64_t *device, uint64_t *inode);

// Sends one message to the service manager's socket, `@` for the abstract ones. 0, or an errno.
int vault_notify(const char *address, const char *text);

// Whether `descriptor` is a Unix stream socket that listens. It is closed on exec and does not block
// from then on.
int vault_take_listener(int descriptor);

// The path at which a Unix socket is bound; empty where it has none. 0, or an errno.
int vault_socket_path(int descriptor, char *path, size_t capacity);

// Gives what is at `path`, a link itself, to `group`, and then these permission bits. The directory
// must be one in which nobody else may write. 0, or an errno.
int vault_give_to_group(const char *path, uint32_t group, uint32_t mode);

// The number of a group's name. 0, or an errno, ENOENT where there is none.
int vault_group_number(const char *name, uint32_t *group);

// Starts the program at `path` in a session of its own, to stay: it reads `secret` from its descriptor
// 3, as with vault_spawn_agent, tells over descriptor 4 that it is ready, and holds `leader`, where
// that is not negative, as its descriptor 5. Its standard error is `error_output` until it is ready;
// `*ready` is the end at which its word comes. 0, or an errno.
int vault_spawn_background(const char *path, const char *arguments, int32_t argument_count,
                           const char *environment, int32_t environment_count,
                           const uint8_t *secret, size_t secret_length, int error_output,
                           int leader, pid_t *child, int *ready);

// Standard input, output and error lead nowhere from now on. 0, or an errno.
int vault_leave_terminal(void);

// How many descriptors this process has open; 0 where that cannot be told.
int vault_count_descriptors(void);

// Waits until one of the descriptors can be read, or so long; -1 waits without end, and a descriptor
// that is negative is none. Bit i is set where descriptor i can be read.
uint32_t vault_wait_readable(const int32_t *descriptors, int32_t count, int64_t milliseconds);
#endif
