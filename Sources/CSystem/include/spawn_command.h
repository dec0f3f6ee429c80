#ifndef VAULT_SPAWN_COMMAND_H
#define VAULT_SPAWN_COMMAND_H
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

// Waits for a child. `*exited` is 1 and `*code` its exit code, or `*exited` 0 and `*code` the
// signal that ended it. 0, or an errno.
int vault_wait_child(pid_t child, int *exited, int *code);

// Asks the child to end, makes it end after a second, and waits for that.
void vault_end_child(pid_t child);
#endif
