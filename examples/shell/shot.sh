# A function for ~/.bashrc or ~/.zshrc: `shot` uploads a screenshot of an area that you choose, prints its link and copies it.
# It needs curl, jq, and on Linux grim with slurp (Wayland) or flameshot.
shot() {
  (
    set -e
    picture=$(mktemp)
    trap 'rm -f "$picture"' EXIT
    if [ "$(uname)" = Darwin ]; then
      screencapture -i -t png "$picture"
    elif [ -n "${WAYLAND_DISPLAY:-}" ] && command -v grim >/dev/null; then
      grim -g "$(slurp)" "$picture"
    else
      flameshot gui --raw >"$picture"
    fi
    # The picture is empty when the user cancelled.
    [ -s "$picture" ] || exit 1
    # curl reads the key from standard input, because every user of this machine can read the arguments of programs.
    answer=$(printf 'Authorization: Bearer %s\n' "$FILE_HOSTING_KEY" | curl --fail --silent --show-error -H @- \
      -F "file=@$picture;type=image/png;filename=shot-$(date +%Y%m%d-%H%M%S).png" \
      "$FILE_HOSTING_URL/api/v1/files")
    url=$(echo "$answer" | jq -er .url)
    for copy in wl-copy pbcopy "xclip -selection clipboard"; do
      if command -v "${copy%% *}" >/dev/null; then
        printf %s "$url" | sh -c "$copy"
        break
      fi
    done
    echo "$url"
  )
}
