#define _GNU_SOURCE
#include "words.h"

#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t getopt_lock = PTHREAD_MUTEX_INITIALIZER;

enum { FIRST_LONG = 256 };  // above every character, so that `val` tells long from short

int32_t vault_read_words(const char *arguments, int32_t count, const char *names,
                         const uint8_t *takes_value, const uint8_t *short_names,
                         int32_t option_count, struct vault_word *words, int32_t capacity) {
  int32_t found = -1;
  char **argv = calloc((size_t)count + 2, sizeof *argv);
  struct option *table = calloc((size_t)option_count + 1, sizeof *table);
  char *letters = calloc(2 * (size_t)option_count + 3, 1);
  if (argv == NULL || table == NULL || letters == NULL) goto done;

  static char program[] = "vault";
  argv[0] = program;
  const char *at = arguments;
  for (int32_t i = 0; i < count; i++) {
    argv[i + 1] = (char *)(uintptr_t)at;  // getopt_long writes to the array, never to a word
    at += strlen(at) + 1;
  }
  char *letter = letters;
  *letter++ = '-';  // every word in its place: nothing is moved, whatever POSIXLY_CORRECT says
  *letter++ = ':';  // a missing value is told from an unknown option
  at = names;
  for (int32_t i = 0; i < option_count; i++) {
    table[i].name = at;
    table[i].has_arg = takes_value[i] == 2   ? optional_argument
                       : takes_value[i] == 1 ? required_argument
                                             : no_argument;
    table[i].val = FIRST_LONG + i;
    at += strlen(at) + 1;
    if (short_names[i] != 0) {
      *letter++ = (char)short_names[i];
      if (takes_value[i]) *letter++ = ':';
    }
  }

  pthread_mutex_lock(&getopt_lock);
  found = 0;
  optind = 0;  // glibc: forget the last command line
  opterr = 0;
  int going = 1;
  while (going) {
    // The word that is about to be read, right unless the call stays inside a cluster (-ab).
    int before = optind == 0 ? 1 : optind;
    optarg = NULL;
    int code = getopt_long(count + 1, argv, letters, table, NULL);
    if (code == -1) break;
    struct vault_word word = {VAULT_WORD_OPTION, -1, before - 1, -1, 0};
    int value_apart = optarg != NULL && optind >= 1 && optarg == argv[optind - 1];
    if (code == 1) {
      word.kind = VAULT_WORD_ARGUMENT;
      word.word = optind - 2;
    } else if (code == '?') {
      word.kind = optopt >= FIRST_LONG ? VAULT_WORD_VALUE_UNWANTED : VAULT_WORD_UNKNOWN;
      if (optopt >= FIRST_LONG) word.option = optopt - FIRST_LONG;
      going = 0;
    } else if (code == ':') {
      word.kind = VAULT_WORD_VALUE_MISSING;
      going = 0;
    }
    int value = code == ':' ? optopt : code;
    if (code == ':' || word.kind == VAULT_WORD_OPTION) {
      for (int32_t i = 0; i < option_count && word.option < 0; i++) {
        if (value == FIRST_LONG + i || value == short_names[i]) word.option = i;
      }
    }
    // getopt_long takes any prefix that fits one option; a later option would change its meaning.
    // optopt says nothing after a success: glibc leaves it from the last failure of any command line.
    int failed = code == '?' || code == ':';
    int is_long = word.option >= 0 && (failed ? optopt : code) >= FIRST_LONG;
    if (is_long) {
      int place = value_apart ? optind - 2 : optind - 1;
      word.word = place - 1;
      const char *written = argv[place] + 2;
      size_t length = strcspn(written, "=");
      if (strlen(table[word.option].name) != length) {
        word.kind = VAULT_WORD_UNKNOWN;
        word.option = -1;
        going = 0;
      }
    }
    if (optarg != NULL && (word.kind == VAULT_WORD_OPTION || word.kind == VAULT_WORD_ARGUMENT)) {
      int place = value_apart ? optind - 1 : (is_long ? word.word + 1 : before);
      word.value_word = place - 1;
      word.value_offset = (int32_t)(optarg - argv[place]);
    }
    if (found == capacity) {
      found = -1;
      goto unlock;
    }
    words[found++] = word;
  }
  if (going) {
    for (int i = optind; i <= count; i++) {  // after `--`
      if (found == capacity) {
        found = -1;
        goto unlock;
      }
      words[found++] = (struct vault_word){VAULT_WORD_ARGUMENT, -1, i - 1, i - 1, 0};
    }
  }
unlock:
  optind = 0;
  pthread_mutex_unlock(&getopt_lock);
done:
  free(argv);
  free(table);
  free(letters);
  return found;
}
