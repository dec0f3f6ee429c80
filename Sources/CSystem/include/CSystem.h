#ifndef VAULT_CSYSTEM_H
#define VAULT_CSYSTEM_H
#include <fcntl.h>
static inline int vault_open(const char *path, int flags, int mode) { return open(path, flags, mode); }
#endif
