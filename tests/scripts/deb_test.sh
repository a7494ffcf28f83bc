#!/usr/bin/env bash
# The Debian package of a build can be unpacked anywhere and runs there, with its man pages and
# completions, which their shells accept; lintian finds neither error nor warning.
#     deb_test.sh SOURCE BUILD
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$("$1/scripts/make-deb.sh" "$2" "$work")
dpkg-deb --info "$package" | grep 'Depends: .*libfmt' >/dev/null
dpkg-deb --extract "$package" "$work/unpacked"
set +e
(cd "$1" && "$work/unpacked/usr/bin/isoscope" check examples/lost-update.hist --level si --quiet)
code=$?
set -e
[[ $code == 1 ]] || { echo "exit code $code" && exit 1; }
zcat "$work/unpacked/usr/share/man/man1/isoscope-check.1.gz" | grep -F -- '\-\-level' >/dev/null
for file in bash-completion/completions/isoscope zsh/vendor-completions/_isoscope fish/vendor_completions.d/isoscope.fish; do
  [[ -s $work/unpacked/usr/share/$file ]] || { echo "$file is missing" && exit 1; }
done
# The completion of bash knows commands, options and the values of options.
set +u # as in a shell of people
. "$work/unpacked/usr/share/bash-completion/completions/isoscope"
complete_line() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=() && _isoscope && echo "${COMPREPLY[@]}"; }
[[ $(complete_line isoscope che) == check ]]
[[ $(complete_line isoscope check --expl) == --explain ]]
[[ $(complete_line isoscope check --explain al) == all ]]
zsh -n "$work/unpacked/usr/share/zsh/vendor-completions/_isoscope"
fish --no-execute "$work/unpacked/usr/share/fish/vendor_completions.d/isoscope.fish"
[[ $(fish -c "source $work/unpacked/usr/share/fish/vendor_completions.d/isoscope.fish; complete -C 'isoscope che'") == check* ]]
# It runs in a folder that has nothing but the program and the libraries that it names.
root=$work/root
mkdir -p "$root"
dpkg-deb --extract "$package" "$root"
ldd "$root/usr/bin/isoscope" | grep -o '/[^ ]*' | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")" && cp -L "$library" "$root$library"
done
cp "$1/examples/lost-update.hist" "$root"
if [[ $(id -u) == 0 ]]; then
  set +e
  chroot "$root" /usr/bin/isoscope check lost-update.hist --level si --quiet
  code=$?
  set -e
  [[ $code == 1 ]] || { echo "in a chroot: exit code $code" && exit 1; }
fi
lintian --fail-on error,warning "$package"
echo "the package works"
