#ifndef VAULT_CQRENCODE_H
#define VAULT_CQRENCODE_H

#include <qrencode.h>

#endif
