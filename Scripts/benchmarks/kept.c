// kept SOCKET FILE COUNT
//
// Sends the HTTP request in FILE over one connection to a Unix socket COUNT times, each after the answer
// to the one before, and prints how many were answered in a second. An answer without a length, or whose
// status is not 200, ends the run. A part of it, a tenth, goes before and does not count.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
  fprintf(stderr, "kept: %s\n", what);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void ask(int at, const char *request, size_t length) {
  char answer[65536];
  size_t have = 0, whole = 0;
  if (write(at, request, length) != (ssize_t)length) fail("the request was not taken whole");
  while (!whole || have < whole) {
    ssize_t came = read(at, answer + have, sizeof answer - 1 - have);
    if (came <= 0) fail("the connection ended");
    have += came;
    answer[have] = 0;
    char *end = whole ? NULL : strstr(answer, "\r\n\r\n");
    if (!end) continue;
    char *field = strcasestr(answer, "\r\ncontent-length:");
    if (strncmp(answer, "HTTP/1.1 200 ", 13) != 0) fail("the answer is not 200");
    if (!field || field > end) fail("the answer has no length");
    whole = (end + 4 - answer) + strtoul(field + 17, NULL, 10);
    if (whole >= sizeof answer) fail("the answer is too long");
  }
}

int main(int count, char **words) {
  if (count != 4) fail("usage: kept SOCKET FILE COUNT");
  char request[8192];
  FILE *file = fopen(words[2], "rb");
  if (!file) fail("no such file");
  size_t length = fread(request, 1, sizeof request, file);
  fclose(file);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(words[1]) >= sizeof address.sun_path) fail("the socket's path is too long");
  strcpy(address.sun_path, words[1]);
  int at = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (at < 0 || connect(at, (struct sockaddr *)&address, sizeof address)) fail("nobody listens");
  long times = strtol(words[3], NULL, 10);
  for (long index = 0; index < times / 10; index++) ask(at, request, length);
  double start = now();
  for (long index = 0; index < times; index++) ask(at, request, length);
  printf("kept %.0f /s\n", times / (now() - start));
  return 0;
}
