#ifndef VAULT_WORDS_H
#define VAULT_WORDS_H
#include <stddef.h>
#include <stdint.h>

// One thing that getopt_long found on a command line.
enum {
  VAULT_WORD_OPTION = 0,          // an option that is in the table
  VAULT_WORD_ARGUMENT = 1,        // a word that is no option
  VAULT_WORD_UNKNOWN = 2,         // an option that is not in the table, or an abbreviation of one
  VAULT_WORD_VALUE_MISSING = 3,   // an option that takes a value stands last
  VAULT_WORD_VALUE_UNWANTED = 4,  // --flag=value
};

struct vault_word {
  int32_t kind;
  int32_t option;        // index into the table, -1 where there is none
  int32_t word;          // index of the argument in which it stands
  int32_t value_word;    // index of the argument that holds the value, -1 where there is none
  int32_t value_offset;  // bytes before the value in that argument
};

// Reads `count` arguments, NUL-terminated one after the other in `arguments`, against a table of
// `option_count` long options, NUL-terminated one after the other in `names`. `takes_value` has one
// byte for each. `short_names` has one byte for each: an ASCII letter, or 0.
//
// Writes at most `count + total bytes of the arguments` words; `capacity` says how many fit.
// Returns their number, or -1 where they do not fit or there is no memory. Stops after the first
// word that is wrong. getopt_long keeps its place in globals: calls are serialised here.
int32_t vault_read_words(const char *arguments, int32_t count, const char *names,
                         const uint8_t *takes_value, const uint8_t *short_names,
                         int32_t option_count, struct vault_word *words, int32_t capacity);
#endif
