#ifndef VAULT_CCURL_H
#define VAULT_CCURL_H

// What Swift cannot import of libcurl: variadic calls, macros of sums, and the memory methods, which
// libcurl calls back as plain C functions.

// The checks of curl.h want options that are constants, which those of a function are not.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// MARK: Memory methods that wipe

static void *vault_curl_malloc(size_t count) { return malloc(count); }

static void *vault_curl_calloc(size_t number, size_t size) { return calloc(number, size); }

static void vault_curl_free(void *block) {
  if (block == NULL) return;
  explicit_bzero(block, malloc_usable_size(block));
  free(block);
}

// The C library's realloc may move a block and leave the old bytes behind, so it is never called.
static void *vault_curl_realloc(void *block, size_t count) {
  if (block == NULL) return malloc(count);
  size_t held = malloc_usable_size(block);
  if (count <= held && count >= held / 2) return block;
  void *moved = malloc(count);
  if (moved == NULL) return NULL;
  memcpy(moved, block, held < count ? held : count);
  vault_curl_free(block);
  return moved;
}

static char *vault_curl_strdup(const char *text) {
  size_t count = strlen(text) + 1;
  char *copy = malloc(count);
  return copy == NULL ? NULL : memcpy(copy, text, count);
}

// Once in a process, before any other call; where another user of libcurl came first, its memory
// methods stay.
static inline CURLcode vault_curl_start(void) {
  return curl_global_init_mem(CURL_GLOBAL_DEFAULT, vault_curl_malloc, vault_curl_free,
                              vault_curl_realloc, vault_curl_strdup, vault_curl_calloc);
}

// MARK: Options

static inline CURLcode vault_curl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode vault_curl_set_count(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode vault_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode vault_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode vault_curl_set_data(CURL *handle, CURLoption option,
                                           curl_write_callback value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode vault_curl_set_progress(CURL *handle, curl_xferinfo_callback value) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode vault_curl_set_prerequest(CURL *handle, curl_prereq_callback value) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLMcode vault_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// MARK: What is known of a transfer

static inline CURLcode vault_curl_get_number(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode vault_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, value);
}

#endif
