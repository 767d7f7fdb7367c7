#!/bin/sh
# Uploads files and prints their links: sh upload.sh photo.jpg notes.txt
# It needs curl 7.71 or newer, and jq.
set -eu
if [ $# -eq 0 ]; then
  echo 'Usage: sh upload.sh <file> …' >&2
  exit 2
fi
: "${FILE_HOSTING_URL:?set it to the address of the service}" "${FILE_HOSTING_KEY:?set it to an API key}"
for file in "$@"; do
  # What is no regular file, such as a pipe, cannot be read again when the upload is repeated.
  if [ ! -f "$file" ] || [ ! -r "$file" ]; then
    echo "$file is no file that can be read, so nothing was uploaded." >&2
    exit 1
  fi
done
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
for file in "$@"; do
  # curl takes a quoted path literally, if \ and " in it are escaped. The path - would be standard input.
  path=$(printf %s "$file" | sed -e 's/[\\"]/\\&/g' -e '1s/^-/.\/-/')
  # All attempts to upload this file send one Idempotency-Key, so they make one file.
  attempts=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  # curl repeats a request that was answered 429 or 5xx, not before Retry-After, and after a lost or stalled connection. It reads the key
  # from standard input, because every user of this machine can read the arguments of programs.
  printf 'Authorization: Bearer %s\n' "$FILE_HOSTING_KEY" | curl --no-progress-meter --retry 5 --retry-all-errors \
    --connect-timeout 30 --speed-time 120 -o "$answer" -H @- -H "Idempotency-Key: $attempts" \
    -F "file=@\"$path\"" "$FILE_HOSTING_URL/api/v1/files"
  # If there is no link, this ends the script with the error of the service.
  jq -er '.url // error(.error)' "$answer"
done
