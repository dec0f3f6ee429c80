#ifndef VAULT_PROMPT_H
#define VAULT_PROMPT_H
#include <stddef.h>
#include <stdint.h>

// Opens a terminal for a question. -1 where there is none, where it is not a terminal, or where
// this process may not read from it because it runs in the background (a read would stop it).
int vault_terminal_open(const char *path);

enum {
  VAULT_LINE_READ = 0,
  VAULT_LINE_END = 1,       // end of file before a newline
  VAULT_LINE_TIMEOUT = 2,
  VAULT_LINE_TOO_LONG = 3,
  VAULT_LINE_FAILED = 4,    // errno says why
};

// Writes `prompt` to the terminal and reads one line from it into `buffer`, which is the caller's
// and which alone receives what was typed. Without `echo` nothing typed is shown.
//
// The terminal's settings are put back before this returns, and before a signal that ends or stops
// the process takes its course; after a stop the question is asked again. One question at a time in
// a process: calls are serialised.
int vault_terminal_ask(int terminal, const char *prompt, int echo, uint8_t *buffer,
                       size_t capacity, int64_t milliseconds, size_t *length);
#endif
