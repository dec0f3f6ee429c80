#include "interrupts.h"

#include <signal.h>
#include <stddef.h>

static const int held[] = {SIGINT, SIGTERM, SIGHUP};
enum { HELD = sizeof held / sizeof held[0] };

static volatile sig_atomic_t came;
static struct sigaction before[HELD];
static int is_held;

static void note(int number) { came = number; }

void vault_interrupts_hold(void) {
  if (is_held) return;
  is_held = 1;
  came = 0;
  struct sigaction action = {.sa_handler = note};
  sigemptyset(&action.sa_mask);
  // Calls that wait return, so that the wait is looked at anew.
  for (int i = 0; i < HELD; i++) {
    sigaction(held[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(held[i], &action, NULL);
  }
}

void vault_interrupts_release(void) {
  if (!is_held) return;
  is_held = 0;
  for (int i = 0; i < HELD; i++) sigaction(held[i], &before[i], NULL);
}

int32_t vault_interrupted(void) { return came; }
