#ifndef VAULT_CCURL_H
#define VAULT_CCURL_H

#include <curl/curl.h>

#endif
