// spawn ROUNDS -- COMMAND ARGS... -- COMMAND ARGS...
//
// Runs the commands in turn, ROUNDS times after one round that does not count, and prints a line for
// each: median and least milliseconds from start to end, and the most memory in KiB. In an argument
// %r stands for the round's number, seven digits from 0000001. They share the environment of this
// program; standard output is thrown away. A command that fails ends the run.
//
// A program of its own, small and static: what starts a process counts towards that process's memory
// until it runs its own code.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { COMMANDS = 8, ARGUMENTS = 32, ROUNDS = 1000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **arguments) {
  static char *commands[COMMANDS][ARGUMENTS + 1];
  static double times[COMMANDS][ROUNDS];
  static long memory[COMMANDS];
  int rounds = count > 1 ? atoi(arguments[1]) : 0, last = -1, length = 0;
  for (int i = 2; i < count; i++) {
    if (!strcmp(arguments[i], "--")) {
      if (++last == COMMANDS) return 64;
      length = 0;
    } else {
      if (last < 0 || length == ARGUMENTS) return 64;
      commands[last][length++] = arguments[i];
    }
  }
  if (last < 0 || rounds < 1 || rounds > ROUNDS) {
    fprintf(stderr, "usage: spawn ROUNDS -- COMMAND ARGS... -- COMMAND ARGS...\n");
    return 64;
  }
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  for (int round = 0; round <= rounds; round++) {
    for (int c = 0; c <= last; c++) {
      static char filled[ARGUMENTS][4096];
      char *argv[ARGUMENTS + 1] = {0};
      for (int i = 0; commands[c][i]; i++) {
        char *place = strstr(commands[c][i], "%r");
        argv[i] = commands[c][i];
        if (!place) continue;
        snprintf(filled[i], sizeof filled[i], "%.*s%07d%s", (int)(place - commands[c][i]),
                 commands[c][i], round + 1, place + 2);
        argv[i] = filled[i];
      }
      pid_t child;
      int status;
      struct rusage usage;
      double began = now();
      int failure = posix_spawn(&child, argv[0], &quiet, NULL, argv, environ);
      if (failure) {
        fprintf(stderr, "spawn: %s: %s\n", argv[0], strerror(failure));
        return 1;
      }
      if (wait4(child, &status, 0, &usage) != child) return 1;
      double took = now() - began;
      if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "spawn: %s: status %d in round %d\n", argv[0], WEXITSTATUS(status), round);
        return 1;
      }
      if (round) times[c][round - 1] = took;
      if (usage.ru_maxrss > memory[c]) memory[c] = usage.ru_maxrss;
    }
  }
  for (int c = 0; c <= last; c++) {
    qsort(times[c], rounds, sizeof(double), ascending);
    double median = (times[c][(rounds - 1) / 2] + times[c][rounds / 2]) / 2;
    printf("%.4f %.4f %ld\n", median, times[c][0], memory[c]);
  }
  return 0;
}
