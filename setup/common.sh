# Read by ./run, ./test and the scripts of bench: where things are, and how they are built.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# A clone in another folder finds the objects of this one in the compiler cache.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

say() { printf '\n== %s\n' "$*"; }

# build PRESET TARGET...: configures once, builds. Ninja reconfigures by itself when a CMakeLists.txt changes.
build() {
  local preset=$1 out
  shift
  if [ ! -f "$root/build/$preset/build.ninja" ]; then
    out=$(cd "$root" && cmake --preset "$preset" 2>&1) || { printf '%s\n' "$out"; return 1; }
  fi
  NINJA_STATUS='[%f/%t, %es] ' cmake --build "$root/build/$preset" --target "$@"
}
