#define _GNU_SOURCE
#include "spawn_command.h"

#include "life.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The texts that stand one after the other in `packed`, as an array that ends with NULL. The caller
// frees the array; the texts stay where they are. NULL where there is no memory.
static char **unpacked(const char *packed, int32_t count) {
  char **texts = calloc((size_t)count + 1, sizeof *texts);
  if (texts == NULL) return NULL;
  for (int32_t i = 0; i < count; i++) {
    texts[i] = (char *)(uintptr_t)packed;
    packed += strlen(packed) + 1;
  }
  return texts;
}

int vault_spawn_shell(const char *command, const char *environment, int32_t environment_count,
                      pid_t *child, int *output) {
  char **variables = unpacked(environment, environment_count);
  if (variables == NULL) return ENOMEM;
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

// A pipe that holds `secret` and whose writing end is closed. -1 and errno.
static int filled_pipe(const uint8_t *secret, size_t length) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  int error = 0;
  int capacity = fcntl(ends[1], F_GETPIPE_SZ);
  if (capacity >= 0 && (size_t)capacity < length) {
    capacity = fcntl(ends[1], F_SETPIPE_SZ, (int)length);
  }
  if (capacity < 0) {
    error = errno;
  } else {
    // It fits, so it is taken whole or not at all.
    ssize_t wrote = write(ends[1], secret, length);
    if (wrote != (ssize_t)length) error = wrote < 0 && errno != EAGAIN ? errno : EMSGSIZE;
  }
  close(ends[1]);
  if (error == 0) return ends[0];
  close(ends[0]);
  errno = error;
  return -1;
}

int vault_spawn_agent(const char *path, const char *arguments, int32_t argument_count,
                      const char *environment, int32_t environment_count, const uint8_t *secret,
                      size_t secret_length, int error_output, pid_t *child) {
  char **words = unpacked(arguments, argument_count);
  char **variables = unpacked(environment, environment_count);
  int pipe_end = -1;
  int error = ENOMEM;
  if (words == NULL || variables == NULL) goto free_texts;
  pipe_end = filled_pipe(secret, secret_length);
  if (pipe_end < 0) {
    error = errno;
    goto free_texts;
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if ((error = posix_spawn_file_actions_init(&actions)) != 0) goto free_texts;
  if ((error = posix_spawnattr_init(&attributes)) != 0) goto destroy_actions;
  sigset_t defaults, none;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  sigemptyset(&none);
  // Standard error first, before its number can be taken by another.
  if ((error = posix_spawn_file_actions_adddup2(&actions, error_output, 2)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, pipe_end, 3)) == 0 &&
      (error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
      (error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)) == 0 &&
      (error = posix_spawn_file_actions_addclosefrom_np(&actions, 4)) == 0 &&
      (error = posix_spawnattr_setsigdefault(&attributes, &defaults)) == 0 &&
      (error = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
      (error = posix_spawnattr_setflags(
           &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)) == 0) {
    error = posix_spawn(child, path, &actions, &attributes, words, variables);
  }
  posix_spawnattr_destroy(&attributes);
destroy_actions:
  posix_spawn_file_actions_destroy(&actions);
free_texts:
  if (pipe_end >= 0) close(pipe_end);
  free(words);
  free(variables);
  return error;
}

// Takes note of the child's end, so that a process that lives long keeps no dead ones.
static void *reap(void *child) {
  while (waitpid((pid_t)(intptr_t)child, NULL, 0) < 0 && errno == EINTR) {
  }
  return NULL;
}

int vault_spawn_detached(const char *path, const char *arguments, int32_t argument_count,
                         const char *environment, int32_t environment_count) {
  char **words = unpacked(arguments, argument_count);
  char **variables = unpacked(environment, environment_count);
  int error = ENOMEM;
  if (words == NULL || variables == NULL) goto free_texts;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if ((error = posix_spawn_file_actions_init(&actions)) != 0) goto free_texts;
  if ((error = posix_spawnattr_init(&attributes)) != 0) goto destroy_actions;
  sigset_t all, none, before;
  sigfillset(&all);
  sigemptyset(&none);
  pid_t child;
  if ((error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, 0, 1)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, 0, 2)) == 0 &&
      (error = posix_spawn_file_actions_addclosefrom_np(&actions, 3)) == 0 &&
      (error = posix_spawnattr_setsigdefault(&attributes, &all)) == 0 &&
      (error = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
      (error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSID)) == 0) {
    error = posix_spawn(&child, path, &actions, &attributes, words, variables);
  }
  if (error == 0) {
    // Signals are for the threads that expect them.
    pthread_t reaper;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&reaper, NULL, reap, (void *)(intptr_t)child) == 0) pthread_detach(reaper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  posix_spawnattr_destroy(&attributes);
destroy_actions:
  posix_spawn_file_actions_destroy(&actions);
free_texts:
  free(words);
  free(variables);
  return error;
}

int vault_spawn_hook(const char *path, const char *environment, int32_t environment_count,
                     const uint8_t *input, size_t input_length, int error_output, pid_t *child) {
  char **variables = unpacked(environment, environment_count);
  if (variables == NULL) return ENOMEM;
  int error;
  int pipe_end = filled_pipe(input, input_length);
  if (pipe_end < 0) {
    error = errno;
    free(variables);
    return error;
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if ((error = posix_spawn_file_actions_init(&actions)) != 0) goto free_texts;
  if ((error = posix_spawnattr_init(&attributes)) != 0) goto destroy_actions;
  sigset_t defaults, none;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGTERM);
  sigemptyset(&none);
  if ((error = posix_spawn_file_actions_adddup2(&actions, pipe_end, 0)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, error_output, 1)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, error_output, 2)) == 0 &&
      (error = posix_spawn_file_actions_addclosefrom_np(&actions, 3)) == 0 &&
      (error = posix_spawnattr_setsigdefault(&attributes, &defaults)) == 0 &&
      (error = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
      (error = posix_spawnattr_setflags(
           &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)) == 0) {
    char *const words[] = {(char *)(uintptr_t)path, NULL};
    error = posix_spawn(child, path, &actions, &attributes, words, variables);
  }
  posix_spawnattr_destroy(&attributes);
destroy_actions:
  posix_spawn_file_actions_destroy(&actions);
free_texts:
  close(pipe_end);
  free(variables);
  return error;
}

int vault_wait_child_for(pid_t child, int64_t milliseconds, int *exited, int *code) {
  int status;
  for (;;) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return errno;
    if (milliseconds <= 0) return ETIMEDOUT;
    usleep(5000);
    milliseconds -= 5;
  }
  *exited = WIFEXITED(status) ? 1 : 0;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return 0;
}

static volatile sig_atomic_t end_was_asked = 0;

static void note_signal(int number) {
  (void)number;
  end_was_asked = 1;
}

void vault_note_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int vault_end_was_asked(void) { return end_was_asked; }

int vault_become(const char *path, const char *arguments, int32_t argument_count) {
  char **words = unpacked(arguments, argument_count);
  if (words == NULL) return ENOMEM;
  execve(path, words, environ);
  int error = errno;
  free(words);
  return error;
}

int vault_may_run(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
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

int vault_spawn_background(const char *path, const char *arguments, int32_t argument_count,
                           const char *environment, int32_t environment_count,
                           const uint8_t *secret, size_t secret_length, int error_output,
                           int leader, pid_t *child, int *ready) {
  char **words = unpacked(arguments, argument_count);
  char **variables = unpacked(environment, environment_count);
  int key_end = -1, ends[2] = {-1, -1}, high[4] = {-1, -1, -1, -1};
  int error = ENOMEM;
  if (words == NULL || variables == NULL) goto free_texts;
  key_end = filled_pipe(secret, secret_length);
  if (key_end < 0 || pipe2(ends, O_CLOEXEC) != 0) {
    error = errno;
    goto free_texts;
  }
  // Above the numbers that the child is given, so that none is overwritten before it is copied.
  const int given[] = {error_output, key_end, ends[1], leader};
  for (int i = 0; i < 4; i++) {
    if (given[i] < 0) continue;
    high[i] = fcntl(given[i], F_DUPFD_CLOEXEC, 16);
    if (high[i] < 0) {
      error = errno;
      goto free_texts;
    }
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if ((error = posix_spawn_file_actions_init(&actions)) != 0) goto free_texts;
  if ((error = posix_spawnattr_init(&attributes)) != 0) goto destroy_actions;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  if ((error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
      (error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, high[0], 2)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, high[1], 3)) == 0 &&
      (error = posix_spawn_file_actions_adddup2(&actions, high[2], 4)) == 0 &&
      (leader < 0 ||
       (error = posix_spawn_file_actions_adddup2(&actions, high[3], 5)) == 0) &&
      (error = posix_spawn_file_actions_addclosefrom_np(&actions, leader < 0 ? 5 : 6)) == 0 &&
      (error = posix_spawnattr_setsigdefault(&attributes, &all)) == 0 &&
      (error = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
      (error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSID)) == 0) {
    error = posix_spawn(child, path, &actions, &attributes, words, variables);
  }
  posix_spawnattr_destroy(&attributes);
destroy_actions:
  posix_spawn_file_actions_destroy(&actions);
free_texts:
  for (int i = 0; i < 4; i++) {
    if (high[i] >= 0) close(high[i]);
  }
  if (key_end >= 0) close(key_end);
  if (ends[1] >= 0) close(ends[1]);
  if (error != 0 && ends[0] >= 0) {
    close(ends[0]);
  } else {
    *ready = ends[0];
  }
  free(words);
  free(variables);
  return error;
}
