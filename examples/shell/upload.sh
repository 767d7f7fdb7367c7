#!/bin/sh
# Uploads files and prints their links: sh upload.sh photo.jpg notes.txt
set -eu
if [ $# -eq 0 ]; then
  echo 'Usage: sh upload.sh <file> …' >&2
  exit 2
fi
for file in "$@"; do
  # In quotes, curl takes a name as it is, but for these two.
  path=$(printf %s "$file" | sed 's/[\\"]/\\&/g')
  # curl repeats what may succeed later: 429 and 5xx, not before Retry-After. With one Idempotency-Key that makes one file.
  # The key comes by standard input, because everyone on this machine can read the arguments of programs.
  answer=$(printf 'Authorization: Bearer %s\n' "$FILE_HOSTING_KEY" | curl --fail --silent --show-error --retry 5 -H @- \
    -H "Idempotency-Key: $(date +%s)-$$-$(cksum <"$file" | tr ' ' '-')" \
    -F "file=@\"$path\"" "$FILE_HOSTING_URL/api/v1/files")
  echo "$answer" | jq -er .url
done
