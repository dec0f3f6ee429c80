#ifndef VAULT_SPAWN_COMMAND_H
#define VAULT_SPAWN_COMMAND_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Starts `/bin/sh -c command` with an empty standard input, its standard output in a pipe whose
// reading end is `*output` (the caller closes it), and the caller's standard error. `environment`
// holds NUL-terminated NAME=VALUE texts one after the other.
//
// The child has no other descriptor of ours, the default action for SIGPIPE and SIGXFSZ and an empty
// signal mask; it stays in our process group, so that an interrupt reaches it. 0, or an errno.
int vault_spawn_shell(const char *command, const char *environment, int32_t environment_count,
                      pid_t *child, int *output);

// Starts the program at `path` with the NUL-terminated texts of `arguments`, the first among them its
// name, and `environment`. It reads `secret` from its descriptor 3, a pipe that holds all of it when
// the program starts and ends there. Its standard input is empty, its standard output goes nowhere, its
// standard error is `error_output`; signals are as with vault_spawn_shell. 0, or an errno; EMSGSIZE
// where the secret is more than a pipe holds.
int vault_spawn_agent(const char *path, const char *arguments, int32_t argument_count,
                      const char *environment, int32_t environment_count, const uint8_t *secret,
                      size_t secret_length, int error_output, pid_t *child);

// Starts the program at `path` in a session of its own, with nothing but /dev/null to read from and
// write to, and waits for nothing. 0 once it runs, or an errno.
int vault_spawn_detached(const char *path, const char *arguments, int32_t argument_count,
                         const char *environment, int32_t environment_count);

// Replaces this process by the program at `path`, with this process's environment and the signal mask
// of none. Returns an errno, or not at all.
int vault_become(const char *path, const char *arguments, int32_t argument_count);

// Whether `path` is a file that this user may run.
int vault_may_run(const char *path);

// Waits for a child. `*exited` is 1 and `*code` its exit code, or `*exited` 0 and `*code` the
// signal that ended it. 0, or an errno.
int vault_wait_child(pid_t child, int *exited, int *code);

// Starts the program at `path`, alone, with `environment`. It reads `input` from its standard input, a
// pipe that holds all of it and ends there; its standard output and error are the caller's standard
// error. 0, or an errno; EMSGSIZE where the input is more than a pipe holds.
int vault_spawn_hook(const char *path, const char *environment, int32_t environment_count,
                     const uint8_t *input, size_t input_length, int error_output, pid_t *child);

// As vault_wait_child, for so long at most: ETIMEDOUT where the child goes on.
int vault_wait_child_for(pid_t child, int64_t milliseconds, int *exited, int *code);

// From now on SIGINT and SIGTERM end nothing by themselves; vault_end_was_asked tells that one came.
void vault_note_signals(void);
int vault_end_was_asked(void);

// Asks the child to end, makes it end after a second, and waits for that.
void vault_end_child(pid_t child);
#endif
