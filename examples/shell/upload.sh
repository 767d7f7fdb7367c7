#!/bin/sh
# Uploads files and prints their links: sh upload.sh photo.jpg notes.txt
set -eu
if [ $# -eq 0 ]; then
  echo 'Usage: sh upload.sh <file> …' >&2
  exit 2
fi
for file in "$@"; do
  # curl takes a quoted path literally, if \ and " in it are escaped.
  path=$(printf %s "$file" | sed 's/[\\"]/\\&/g')
  # curl repeats requests that were answered 429 or 5xx, not before Retry-After. All attempts send one Idempotency-Key, so they make
  # one file. curl reads the key from standard input, because every user of this machine can read the arguments of programs.
  answer=$(printf 'Authorization: Bearer %s\n' "$FILE_HOSTING_KEY" | curl --fail --silent --show-error --retry 5 -H @- \
    -H "Idempotency-Key: $(date +%s)-$$-$(cksum <"$file" | tr ' ' '-')" \
    -F "file=@\"$path\"" "$FILE_HOSTING_URL/api/v1/files")
  echo "$answer" | jq -er .url
done
