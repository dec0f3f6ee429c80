#!/usr/bin/env bash
# Runs an app in a container of its own: run.sh SOCKET_DIRECTORY KEY_FILE APP_DIRECTORY COMMAND…
#
# It needs bubblewrap and no privilege. Inside there is no network, no capability, nothing to write to,
# no other process and no file of the user's. The app has
#   /run/vault/apps.sock   the agent; the directory is mounted, for a restart makes another socket
#   /run/secrets/app.key   its key
#   /app                   itself
# and the programs and libraries of this machine under /usr, all of it read-only.
set -euo pipefail
sockets=$1 key=$2 app=$3
shift 3
exec bwrap \
  --unshare-all --cap-drop ALL --new-session --die-with-parent \
  --clearenv --setenv PATH /usr/bin \
  --setenv VAULT_APPS_SOCKET /run/vault/apps.sock \
  --setenv VAULT_APP_KEY_FILE /run/secrets/app.key \
  --ro-bind /usr /usr \
  --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
  --proc /proc --dev /dev \
  --ro-bind "$sockets" /run/vault \
  --ro-bind "$key" /run/secrets/app.key \
  --ro-bind "$app" /app \
  --remount-ro / --chdir /app \
  -- "$@"
