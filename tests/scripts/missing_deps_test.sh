#!/usr/bin/env bash
# scripts/install-deps.sh on machines that it cannot install on: played by a PATH without apt, and
# by one whose apt and dpkg know no package and whose user is not root.
set -euo pipefail
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# machine NAME TOOL…: a PATH with these tools of ours and no others; the compiler knows no library.
machine() {
  local path=$work/$1 tool
  mkdir "$path"
  for tool in bash env dirname grep cat "${@:2}"; do ln -s "$(command -v "$tool")" "$path/$tool"; done
  printf '#!/bin/sh\nexit 1\n' >"$path/c++"
  printf '#!/bin/sh\necho 1000\n' >"$path/id"
  chmod +x "$path"/*
}
# expect NAME CODE TEXT…: the script ends with the code, and says each text.
expect() {
  local name=$1 wanted=$2 code=0 said
  said=$(PATH=$work/$name bash "$scripts/install-deps.sh" 2>&1) || code=$?
  for text in "${@:3}"; do
    if [[ $code != "$wanted" || $said != *"$text"* ]]; then
      printf '%s: exit code %s (expected %s), without "%s":\n%s\n' "$name" "$code" "$wanted" "$text" "$said"
      exit 1
    fi
  done
}

machine no-apt ninja python3
expect no-apt 2 "nothing was installed" "cmake " "There is no apt-get" "CMAKE_PREFIX_PATH"

machine no-root cmake ninja python3
printf '#!/bin/sh\nexit 0\n' >"$work/no-root/dpkg-query"
printf '#!/bin/sh\necho apt-get was called; exit 1\n' >"$work/no-root/apt-get"
chmod +x "$work/no-root/"*
# Libraries that are there count, whatever dpkg thinks. This folder is the only one that has them.
sed -e 's|^folders=(/usr/include /usr/include/postgresql)$|folders=()|' -e 's|/usr/local /opt/homebrew /opt/local||' \
  "$scripts/missing-deps.sh" >"$work/missing-deps.sh"
cp "$scripts/install-deps.sh" "$work"
chmod +x "$work/missing-deps.sh"
scripts=$work
expect no-root 2 "z3++.h " "neither root nor sudo" "apt-get install --no-install-recommends cmake"
mkdir -p "$work/mine/include"/{CLI,fmt,nlohmann,openssl,tbb,gtest,gmock}
for header in cadical.hpp CLI/CLI.hpp fmt/format.h pg_query.h libpq-fe.h openssl/ssl.h simdjson.h nlohmann/json.hpp \
  tbb/task_group.h zlib.h zstd.h gtest/gtest.h gmock/gmock.h; do
  touch "$work/mine/include/$header"
done
export CMAKE_PREFIX_PATH=$work/mine
expect no-root 2 "z3++.h "
touch "$work/mine/include/z3++.h"
expect no-root 0 ""
