#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

/* Macros of sums, which Swift does not import. */
static const int CCRYPTO_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;
static const int CCRYPTO_KEY_PAIR = EVP_PKEY_KEYPAIR;

/* A parameter keeps the address of its name: here a literal of C's, which lasts. What it describes is
   the caller's, and has to last until the parameter was used. */
static inline OSSL_PARAM ccrypto_mac_digest(char *name) {
  return OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0);
}
static inline OSSL_PARAM ccrypto_group(char *name) {
  return OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name, 0);
}
static inline OSSL_PARAM ccrypto_public_point(void *point, size_t count) {
  return OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, count);
}
static inline OSSL_PARAM ccrypto_private_number(void *number, size_t count) {
  return OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, number, count);
}
