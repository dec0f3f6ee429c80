#define _GNU_SOURCE
#include "spawn_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int vault_spawn_shell(const char *command, const char *environment, int32_t environment_count,
                      pid_t *child, int *output) {
  char **variables = calloc((size_t)environment_count + 1, sizeof *variables);
  if (variables == NULL) return ENOMEM;
  const char *at = environment;
  for (int32_t i = 0; i < environment_count; i++) {
    variables[i] = (char *)(uintptr_t)at;
    at += strlen(at) + 1;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    int error = errno;
    free(variables);
    return error;
  }
  // A pipe end that took the place of a closed standard descriptor would be closed by its own dup2.
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) goto close_ends;
  error = posix_spawnattr_init(&attributes);
  if (error != 0) goto destroy_actions;

  sigset_t defaults, none;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  sigemptyset(&none);
  if ((error = posix_spawn_file_actions_adddup2(&actions, ends[1], 1)) == 0 &&
      (error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
      (error = posix_spawn_file_actions_addclosefrom_np(&actions, 3)) == 0 &&
      (error = posix_spawnattr_setsigdefault(&attributes, &defaults)) == 0 &&
      (error = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
      (error = posix_spawnattr_setflags(
           &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)) == 0) {
    static char shell[] = "sh", flag[] = "-c";
    char *const arguments[] = {shell, flag, (char *)(uintptr_t)command, NULL};
    error = posix_spawn(child, "/bin/sh", &actions, &attributes, arguments, variables);
  }
  posix_spawnattr_destroy(&attributes);
destroy_actions:
  posix_spawn_file_actions_destroy(&actions);
close_ends:
  free(variables);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
  } else {
    *output = ends[0];
  }
  return error;
}

int vault_wait_child(pid_t child, int *exited, int *code) {
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  *exited = WIFEXITED(status) ? 1 : 0;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return 0;
}

void vault_end_child(pid_t child) {
  kill(child, SIGTERM);
  for (int i = 0; i < 100; i++) {
    pid_t ended = waitpid(child, NULL, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return;
    usleep(10000);
  }
  kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
}
