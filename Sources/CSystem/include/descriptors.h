#ifndef VAULT_DESCRIPTORS_H
#define VAULT_DESCRIPTORS_H
#include <stddef.h>
#include <stdint.h>

// Opens /dev/null, for reading only, wherever descriptor 0, 1 or 2 is closed. Without it the vault
// file could become descriptor 2 and a message would be written into it. A write to descriptor 1
// or 2 then still fails with EBADF.
void vault_hold_standard_descriptors(void);

// Writes everything, whatever signals arrive. 0, or an errno.
int vault_write_all(int descriptor, const uint8_t *bytes, size_t count);

// Waits so long, or until nobody reads any more what is written to `descriptor`: 0 then, else 1.
int vault_wait_while_read(int descriptor, int64_t milliseconds);

// Reads to the end of file or until `capacity` bytes are there. Waits for a writer that has not
// come yet, `milliseconds` in all (ETIMEDOUT). 0, or an errno.
int vault_read_to_end(int descriptor, uint8_t *buffer, size_t capacity, int64_t milliseconds,
                      size_t *length);

// Opens for reading without ever waiting for the other end of a FIFO or for a line. -1 and errno.
int vault_open_to_read(const char *path);

enum { VAULT_KIND_FILE = 0, VAULT_KIND_DIRECTORY = 1, VAULT_KIND_PIPE = 2, VAULT_KIND_OTHER = 3 };
struct vault_descriptor_facts {
  int32_t kind;
  uint32_t mode;  // permission bits
  uint32_t owner;
  int64_t size;
};
// 0, or an errno.
int vault_describe(int descriptor, struct vault_descriptor_facts *facts);

int vault_is_terminal(int descriptor);

// How many characters a line of the terminal has; 0 where it is none or does not tell.
int vault_terminal_columns(int descriptor);

uint32_t vault_effective_user(void);
void vault_close(int descriptor);

// The C locale's text for an errno, NUL-terminated. Returns `buffer`.
const char *vault_error_text(int error, char *buffer, size_t capacity);

// A pipe by which a thread is woken: ends[0] to read, ends[1] to write; neither blocks, neither is
// inherited by another program. Returns 0, or -1 with errno set.
int vault_open_wake(int *ends);
#endif
