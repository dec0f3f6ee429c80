#define _GNU_SOURCE
#include "prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// The signals that would leave the terminal silent if they ended or stopped the process.
static const int caught[] = {SIGINT, SIGHUP, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
enum { CAUGHT = sizeof caught / sizeof caught[0] };

static pthread_mutex_t ask_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t pending[CAUGHT];
static int wake[2] = {-1, -1};  // a signal may arrive in another thread: the pipe wakes the poll

static void note(int number) {
  int saved = errno;
  for (int i = 0; i < CAUGHT; i++) {
    if (caught[i] == number) pending[i] = 1;
  }
  ssize_t ignored = write(wake[1], "", 1);
  (void)ignored;
  errno = saved;
}

static int64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void put(int terminal, const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    ssize_t wrote = write(terminal, text, left);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text += wrote;
    left -= (size_t)wrote;
  }
}

int vault_terminal_open(const char *path) {
  int terminal = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return -1;
  if (!isatty(terminal)) {
    close(terminal);
    errno = ENOTTY;
    return -1;
  }
  pid_t foreground = tcgetpgrp(terminal);
  if (foreground >= 0 && foreground != getpgrp()) {
    close(terminal);
    errno = EWOULDBLOCK;
    return -1;
  }
  return terminal;
}

// Reads until a newline. Sets `*raised` where a caught signal came first.
static int read_line(int terminal, uint8_t *buffer, size_t capacity, int64_t deadline,
                     size_t *length, int *raised) {
  int too_long = 0;
  for (;;) {
    for (int i = 0; i < CAUGHT; i++) {
      if (pending[i]) {
        *raised = 1;
        return VAULT_LINE_FAILED;
      }
    }
    int64_t left = deadline - milliseconds_now();
    if (left <= 0) return VAULT_LINE_TIMEOUT;
    struct pollfd watched[2] = {{.fd = terminal, .events = POLLIN}, {.fd = wake[0], .events = POLLIN}};
    int ready = poll(watched, 2, left > INT32_MAX ? INT32_MAX : (int)left);
    if (ready < 0 && errno != EINTR) return VAULT_LINE_FAILED;
    if (ready <= 0 || watched[1].revents != 0) continue;
    uint8_t byte;
    ssize_t got = read(terminal, &byte, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0 && errno == EIO) return VAULT_LINE_END;  // the terminal was hung up
    if (got < 0) return VAULT_LINE_FAILED;
    if (got == 0) return *length == 0 ? VAULT_LINE_END : VAULT_LINE_READ;
    if (byte == '\n') return too_long ? VAULT_LINE_TOO_LONG : VAULT_LINE_READ;
    if (*length == capacity) {
      too_long = 1;
    } else {
      buffer[(*length)++] = byte;
    }
    explicit_bzero(&byte, 1);
  }
}

int vault_terminal_ask(int terminal, const char *prompt, int echo, uint8_t *buffer,
                       size_t capacity, int64_t milliseconds, size_t *length) {
  pthread_mutex_lock(&ask_lock);
  int64_t deadline = milliseconds_now() + milliseconds;
  int result = VAULT_LINE_FAILED;
  int error = 0;
  if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) {
    error = errno;
    goto unlock;
  }
  for (int again = 1; again;) {
    again = 0;
    *length = 0;
    struct sigaction before[CAUGHT];
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) {
      pending[i] = 0;
      sigaction(caught[i], NULL, &before[i]);
      // nohup and a shell's background jobs ignore some of them: that stays so.
      if (before[i].sa_handler != SIG_IGN) sigaction(caught[i], &action, NULL);
    }
    struct termios settings;
    int changed = 0;
    int raised = 0;
    if (tcgetattr(terminal, &settings) != 0) {
      error = errno;
    } else {
      struct termios asking = settings;
      asking.c_lflag |= ICANON | ISIG;
      if (!echo) asking.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
      int set;
      // TCSAFLUSH drops what was typed before the question was there to be read.
      do set = tcsetattr(terminal, TCSAFLUSH, &asking);
      while (set != 0 && errno == EINTR);
      if (set != 0) {
        error = errno;
      } else {
        changed = 1;
        put(terminal, prompt);
        result = read_line(terminal, buffer, capacity, deadline, length, &raised);
        error = errno;
        if (!echo || result != VAULT_LINE_READ) put(terminal, "\n");
      }
    }
    if (changed) {
      int set;
      do set = tcsetattr(terminal, TCSAFLUSH, &settings);
      while (set != 0 && errno == EINTR);
    }
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &before[i], NULL);
    if (raised || result != VAULT_LINE_READ) explicit_bzero(buffer, capacity);
    char drained[16];
    while (read(wake[0], drained, sizeof drained) > 0) {
    }
    for (int i = 0; i < CAUGHT; i++) {
      if (!pending[i]) continue;
      // Now, with the terminal as it was, the signal takes its course. Where the process survives
      // it (a stop that was continued, or a handler of its own), the question is asked again after
      // a stop and given up after anything else.
      // To the process, for this thread may block signals; the main thread has it before kill
      // returns.
      kill(getpid(), caught[i]);
      if (caught[i] == SIGTSTP || caught[i] == SIGTTIN || caught[i] == SIGTTOU) {
        again = 1;
      } else {
        result = VAULT_LINE_FAILED;
        error = EINTR;
      }
    }
    if (raised && !again) break;
  }
  close(wake[0]);
  close(wake[1]);
  wake[0] = wake[1] = -1;
unlock:
  pthread_mutex_unlock(&ask_lock);
  errno = error;
  return result;
}
