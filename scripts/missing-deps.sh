#!/usr/bin/env bash
# Names what isoscope builds with and this machine does not have, by asking for the programs and
# the headers themselves. Installs nothing. Exit code 0 when nothing is missing, else 2.
#
#     scripts/missing-deps.sh [core|demo|test|format|live|dev] [DEBIAN-PACKAGE…]
#
# scripts/install-deps.sh calls it where it cannot install; the packages are what it would have
# installed. Headers are looked for where the compiler looks, in CMAKE_PREFIX_PATH, and where the
# usual package managers of macOS put them.
set -euo pipefail
group=${1:-core}
shift || true
packages=("$@")

# what kind: the program or the header; what to look for in a package manager
core='
program  cmake               CMake, 3.25 or later
program  ninja               Ninja
program  python3             Python 3
header   cadical.hpp         CaDiCaL, a SAT solver; the library is libcadical
header   CLI/CLI.hpp         CLI11; CMake package CLI11
header   fmt/format.h        {fmt}, 9 or later; CMake package fmt
header   pg_query.h          libpg_query, the branch of PostgreSQL 15; the library is libpg_query
header   libpq-fe.h          libpq, the client library of PostgreSQL
header   openssl/ssl.h       OpenSSL, 3 or later; CMake package OpenSSL
header   simdjson.h          simdjson, 3 or later; CMake package simdjson
header   z3++.h              Z3 with its C++ interface; the library is libz3
header   nlohmann/json.hpp   JSON for Modern C++ (nlohmann); CMake package nlohmann_json
header   tbb/task_group.h    oneTBB; CMake package TBB
header   zlib.h              zlib; CMake package ZLIB
header   zstd.h              Zstandard; the library is libzstd
header   gtest/gtest.h       GoogleTest; CMake package GTest
header   gmock/gmock.h       GoogleMock, of GoogleTest; CMake package GTest'
format='
program  clang-format        clang-format 14, of LLVM'
dev='
program  clang++             Clang 14, of LLVM, with compiler-rt (libFuzzer and the sanitizers)
program  clang-tidy          clang-tidy 14, of LLVM
header   benchmark/benchmark.h  Google Benchmark; CMake package benchmark'

case $group in
  core | demo | test | live) needed=$core ;;
  format) needed=$format ;;
  dev) needed=$core$format$dev ;;
  *) echo "usage: $0 [core|demo|test|format|live|dev] [DEBIAN-PACKAGE…]" >&2 && exit 2 ;;
esac

compiler=
for candidate in "${CXX:-}" c++ g++ clang++; do
  if [[ -n $candidate ]] && command -v "$candidate" >/dev/null; then compiler=$candidate && break; fi
done
folders=(/usr/include /usr/include/postgresql)
prefixes=${CMAKE_PREFIX_PATH:-}
for prefix in ${prefixes//[:;]/ } /usr/local /opt/homebrew /opt/local; do
  folders+=("$prefix/include" "$prefix/include/postgresql")
done
has_header() {
  local folder
  for folder in "${folders[@]}"; do
    if [[ -e $folder/$1 ]]; then return 0; fi
  done
  # The compiler knows folders of its own.
  [[ -n $compiler ]] && echo "#include <$1>" | "$compiler" -std=c++20 -x c++ -E - >/dev/null 2>&1
}

lacking=()
if [[ $group != format && -z $compiler ]]; then
  lacking+=("$(printf '  %-24s %s' c++ 'a compiler of C++20: g++ 12 or clang++ 14, or later')")
fi
while read -r kind name what; do
  case $kind in
    program) command -v "$name" >/dev/null && continue ;;
    header) has_header "$name" && continue ;;
    *) continue ;;
  esac
  lacking+=("$(printf '  %-24s %s' "$name" "$what")")
done <<<"$needed"
((${#lacking[@]})) || exit 0

{
  echo "isoscope needs what is not found here, and nothing was installed:"
  printf '%s\n' "${lacking[@]}"
  if ((${#packages[@]})); then
    echo "There is neither root nor sudo. Let an administrator run"
    echo "  apt-get install --no-install-recommends ${packages[*]}"
    echo "or build them into a folder of yours and name it in CMAKE_PREFIX_PATH. Then run make again."
  else
    echo "There is no apt-get. Install them with the package manager of this system or from their"
    echo "sources; what is in a folder of its own is found through CMAKE_PREFIX_PATH. Then run make again."
  fi
} >&2
exit 2
