# Sourced by ./run. Installs system packages and .venv, and repeats this only after the files that list them have changed.

say() { printf '\n== %s\n' "$*"; }

# quietly LOG COMMAND...: writes the command's output to LOG. If the command fails, also prints the end of LOG.
quietly() {
  local log="$1" status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >>"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 60 "$log" >&2
    echo "./run: failed (exit $status): $*; the whole log is in $log" >&2
    exit "$status"
  fi
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# If ccache is installed (`setup` installs it), CMake compiles every tree through it, with a cache for this clone only.
# Precompiled headers need CCACHE_SLOPPINESS.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}" CCACHE_DIR="${CCACHE_DIR:-$PWD/.cache/ccache}"
  export CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-3G}" CCACHE_SLOPPINESS=pch_defines,time_macros
}
use_ccache

find_python() {
  local candidate
  for candidate in python3.11 python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  echo "./run: no Python 3.11 found. Install it with: sudo apt-get install -y python3" >&2
  exit 1
}

# install_packages PACKAGE...: installs the Debian packages that are missing.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "installing system packages: ${missing[*]}"
  quietly .cache/apt.log as_root apt-get update
  quietly .cache/apt.log as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    -o DPkg::Lock::Timeout=600 "${missing[@]}"
}

install_system_packages() {
  local wanted
  wanted="$(grep -v '^#' tools/apt-packages.txt)"
  # Debian splits its own Python into several packages; any other build is complete.
  case "$1" in /usr/bin/*) wanted="$wanted python3.11-venv python3.11-dev" ;; esac
  # shellcheck disable=SC2086
  install_packages $wanted
}

setup() {
  local python stamp
  python="$(find_python)" || exit 1
  stamp=".cache/setup-$(cat tools/apt-packages.txt tools/setup.sh tests/requirements.txt <(echo "$python") | sha256sum | cut -c1-16)"
  if [ -e "$stamp" ] && [ -x .venv/bin/python ]; then return; fi
  mkdir -p .cache
  install_system_packages "$python"
  use_ccache
  say "creating .venv ($("$python" --version)) with the packages of tests/requirements.txt"
  [ -x .venv/bin/python ] || quietly .cache/pip.log "$python" -m venv .venv
  quietly .cache/pip.log .venv/bin/python -m pip install --disable-pip-version-check --no-compile -r tests/requirements.txt
  # Apart, for tests and the example of plain PyTorch: beside PyTorch for the CPU, `import torchvision` fails in other packages.
  quietly .cache/pip.log .venv/bin/python -m pip install --disable-pip-version-check --no-compile --no-deps --upgrade \
    --target .venv/torchvision torchvision==0.28.0
  rm -f .cache/setup-*
  touch "$stamp"
}

# Installs NVIDIA DALI into .cache/peers/dali (1.1 GB), once. `./run bench` uses the same environment. Returns 1, and leaves
# nothing behind, if the packages cannot be installed.
setup_dali() {
  local folder=.cache/peers/dali list=bench/peers/dali.txt
  cmp -s "$list" "$folder/installed" && return
  say "installing NVIDIA DALI into $folder (1.1 GB, under a minute; log: .cache/dali.log)"
  mkdir -p .cache
  {
    [ -x "$folder/bin/python" ] || .venv/bin/python -m venv "$folder"
    "$folder/bin/python" -m pip install --disable-pip-version-check --no-compile -r "$list"
  } >.cache/dali.log 2>&1 && cp "$list" "$folder/installed" && return
  rm -rf "$folder"
  return 1
}
