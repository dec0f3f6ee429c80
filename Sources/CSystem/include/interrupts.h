#ifndef VAULT_INTERRUPTS_H
#define VAULT_INTERRUPTS_H
#include <stdint.h>

// From now on SIGINT, SIGTERM and SIGHUP end nothing: they are remembered, so that the program can
// end what it does in order. One that is ignored stays ignored.
void vault_interrupts_hold(void);

// Back to what they did before.
void vault_interrupts_release(void);

// The signal that came since they are held; 0 where none did.
int32_t vault_interrupted(void);
#endif
