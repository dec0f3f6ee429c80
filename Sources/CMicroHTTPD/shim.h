#ifndef VAULT_CMICROHTTPD_H
#define VAULT_CMICROHTTPD_H

#include <microhttpd.h>

#endif
