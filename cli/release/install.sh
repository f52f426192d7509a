#!/bin/sh
# Installs svc @VERSION@: downloads the executable for this machine, verifies its checksum, and puts it into a folder.
#   SVC_INSTALL_DIR   the folder (default: /usr/local/bin if it is writable, else ~/.local/bin)
#   SVC_DOWNLOAD_URL  where the files of the release are
set -eu

url="${SVC_DOWNLOAD_URL:-@URL@}"

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case "$(uname -s)" in
  Linux) system=linux ;;
  Darwin) system=macos ;;
  *) fail "there is no executable for $(uname -s) here; those for Windows are at $url" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) machine=x64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "there is no executable for $(uname -m)" ;;
esac
name="svc-$system-$machine"
if [ "$system" = linux ] && [ -n "$(find /lib -maxdepth 1 -name 'ld-musl-*' 2>/dev/null)" ] && [ ! -e /lib/ld-linux-aarch64.so.1 ] && [ ! -e /lib64/ld-linux-x86-64.so.2 ]; then
  name="$name-musl"
fi

if command -v curl >/dev/null; then
  # A redirect never leads from https to http.
  case "$url" in https:*) redirects="=https" ;; *) redirects="=http,https" ;; esac
  download() { curl -fsSL --proto-redir "$redirects" "$1" -o "$2"; }
elif command -v wget >/dev/null; then
  download() { wget -q "$1" -O "$2"; }
else
  fail "neither curl nor wget is there"
fi
if command -v sha256sum >/dev/null; then
  checksum() { sha256sum "$1"; }
elif command -v shasum >/dev/null; then
  checksum() { shasum -a 256 "$1"; }
else
  fail "neither sha256sum nor shasum is there: the download could not be verified"
fi

folder="${SVC_INSTALL_DIR:-}"
if [ -z "$folder" ]; then
  if [ -w /usr/local/bin ]; then folder=/usr/local/bin; else folder="$HOME/.local/bin"; fi
fi
mkdir -p "$folder" || fail "$folder cannot be made: choose another folder with SVC_INSTALL_DIR"

# In the same file system as the target, so that the last step is one rename.
work=$(mktemp -d "$folder/.svc-install.XXXXXX") || fail "$folder cannot be written to: choose another with SVC_INSTALL_DIR"
trap 'rm -rf "$work"' EXIT INT TERM

download "$url/SHA256SUMS" "$work/SHA256SUMS" || fail "$url/SHA256SUMS could not be downloaded"
expected=$(awk -v name="$name" '$2 == name { print $1 }' "$work/SHA256SUMS")
[ -n "$expected" ] || fail "there is no $name in this release"
download "$url/$name" "$work/svc" || fail "$url/$name could not be downloaded"
actual=$(checksum "$work/svc" | cut -d' ' -f1)
[ "$actual" = "$expected" ] || fail "$name is not what the release says it is (SHA-256 $actual, not $expected): nothing was installed"

chmod 0755 "$work/svc"
mv "$work/svc" "$folder/svc"
echo "installed svc $("$folder/svc" --version | head -n 1) in $folder"
case ":$PATH:" in
  *":$folder:"*) echo "next: svc init" ;;
  *) echo "next: export PATH=\"$folder:\$PATH\"; svc init" ;;
esac
