#!/usr/bin/env bash
# An app in a shell: app.sh SOCKET KEY_FILE API_URL PICTURE
#
# KEY_FILE holds one line, `Authorization: Bearer vapp_…`, mode 0400. curl reads it by itself (@):
# the key stands in no argument, no variable and no address, where others could read it.
set -euo pipefail
socket=$1 key=$2 api=$3 picture=$4
vault=(curl --silent --show-error --fail-with-body --unix-socket "$socket" --header "@$key")

# Who am I
"${vault[@]}" http://vault/v1/app

# The accounts on which the owner decided something for this app
"${vault[@]}" http://vault/v1/accounts

# Its permissions
"${vault[@]}" http://vault/v1/access

# Ask for access; 202 while it waits for the owner
"${vault[@]}" --json '{"type":"own","permissions":["post"],"audience":"friends"}' \
  http://vault/v1/access

# A token; most apps need none
"${vault[@]}" --json '{"permissions":["profile"]}' http://vault/v1/token

# The headers that make a request the account's
"${vault[@]}" --json "{\"method\":\"GET\",\"url\":\"$api/me\",\"permissions\":[\"profile\"]}" \
  http://vault/v1/sign

# Signed and sent by the agent; the answer is the provider's
"${vault[@]}" --header "Vault-URL: $api/me" --header 'Vault-Permissions: profile' \
  http://vault/v1/request
echo

# Follow events, from the first entry on, until the owner grants what was asked for
exec 3< <(exec "${vault[@]}" --no-buffer --header 'Last-Event-ID: 0' http://vault/v1/events)
stream=$!
name=
while IFS= read -r line <&3; do
  case $line in
    'event: '*) name=${line#event: } ;;
    'data: '*)
      echo "event $name"
      [[ $name == granted && $line == *'"post"'* ]] && break
      ;;
  esac
done
kill "$stream"

# A request with a body, streamed from a file
"${vault[@]}" --header "Vault-URL: $api/photos" --header 'Vault-Permissions: post' \
  --header 'Content-Type: image/png' --data-binary "@$picture" http://vault/v1/request
echo
