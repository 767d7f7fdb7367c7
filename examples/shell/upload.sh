#!/bin/sh
# Uploads files and prints their links: sh upload.sh photo.jpg notes.txt
set -eu
for file in "$@"; do
  # In quotes, curl takes any name, with \ before " and \.
  quoted=$(printf %s "$file" | sed 's/[\\"]/\\&/g')
  # curl repeats what may succeed later: 429 and 5xx, not before Retry-After. With one Idempotency-Key that makes one file.
  answer=$(curl --fail --silent --show-error --retry 5 \
    -H "Authorization: Bearer $FILE_HOSTING_KEY" \
    -H "Idempotency-Key: $(date +%s)-$$-$(cksum <"$file" | tr ' ' '-')" \
    -F "file=@\"$quoted\"" "$FILE_HOSTING_URL/api/v1/files")
  echo "$answer" | jq -er .url
done
