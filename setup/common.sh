# Read by ./run, ./test and the scripts of bench: where things are, and how they are built.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# A clone in another folder finds the objects of this one in the compiler cache.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

say() { printf '\n== %s\n' "$*"; }

# build PRESET TARGET...: configures once, builds. Ninja reconfigures by itself when a CMakeLists.txt changes. Two of them at
# once (./run in one terminal, ./test in another) take turns: ninja does not guard its folder.
build() {
  local preset=$1 turn status=0
  shift
  mkdir -p "$root/build/$preset"
  exec {turn}>"$root/build/$preset/.turn"
  flock -n "$turn" || { echo "another build of build/$preset is at work: waiting for it"; flock "$turn"; }
  configure_and_build "$preset" "$@" {turn}>&- || status=$?
  exec {turn}>&-
  return $status
}

configure_and_build() {
  local preset=$1 out
  shift
  if [ ! -f "$root/build/$preset/build.ninja" ]; then
    out=$(cd "$root" && cmake --preset "$preset" 2>&1) || { printf '%s\n' "$out"; return 1; }
  fi
  NINJA_STATUS='[%f/%t, %es] ' cmake --build "$root/build/$preset" --target "$@"
}
