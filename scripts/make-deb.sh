#!/usr/bin/env bash
# Makes a Debian package of a finished build: the program, its man pages, completions and papers.
#     scripts/make-deb.sh build [FOLDER]      writes FOLDER/isoscope_VERSION_ARCH.deb (default: the build)
set -euo pipefail
build=$(realpath "$1")
target=$(realpath "${2:-$1}")
root=$(realpath "$(dirname "$0")/..")
for program in dpkg-deb dpkg-shlibdeps; do
  command -v $program >/dev/null || { echo "$program is missing: apt-get install dpkg-dev" >&2 && exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/isoscope
mkdir -p "$stage/DEBIAN" "$work/debian"
chmod 755 "$stage" "$stage/DEBIAN"
umask 022
DESTDIR=$stage cmake --install "$build" --prefix /usr --component Unspecified --strip >/dev/null
version=$("$stage/usr/bin/isoscope" --version | cut -d' ' -f2)
arch=$(dpkg --print-architecture)
doc=$stage/usr/share/doc/isoscope
mkdir -p "$doc"
find "$stage/usr/share/man" -type f -exec gzip -9n {} +
date=$(LC_ALL=C date -R -u -d "$(sed -n 's/^date-released: //p' "$root/CITATION.cff")")
# Whoever passes the package on names himself, as Debian's own tools let him.
maintainer="${DEBFULLNAME:-The isoscope authors} <${DEBEMAIL:-isoscope@example.org}>"
gzip -9n >"$doc/changelog.gz" <<CHANGELOG
isoscope ($version) unstable; urgency=medium

  * See CHANGELOG.md of the sources.

 -- $maintainer  $date
CHANGELOG
{
  printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: isoscope\n\n'
  printf 'Files: *\nCopyright: 2026 the isoscope authors\nLicense: Expat\n'
  sed -n '5,$p' "$root/LICENSE" | sed 's/^$/./; s/^/ /'
} >"$doc/copyright"
# dpkg-shlibdeps wants the folder of a source package.
printf 'Source: isoscope\n\nPackage: isoscope\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$stage/usr/bin/isoscope" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$stage/DEBIAN/control" <<CONTROL
Package: isoscope
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$stage" | cut -f1)
Depends: $depends
Section: database
Priority: optional
Description: shows what weak transaction isolation can do to your data
 isoscope checks recorded histories against isolation levels, predicts
 unserializable runs from good ones, audits SQL transactions for anomalies,
 explores transactional programs, and compares definitions of isolation.
CONTROL
(cd "$stage" && find usr -type f -exec md5sum {} +) >"$stage/DEBIAN/md5sums"
package=$target/isoscope_${version}_$arch.deb
dpkg-deb --root-owner-group --build "$stage" "$package" >/dev/null
echo "$package"
