#!/bin/sh
# Fetches NVIDIA's libraries for test_real_binaries.py into build/binaries/: wheels of real_binaries.txt, each unpacked into a
# folder of its name and version, since there are several versions of one package; and from Debian's non-free the driver
# library and the old static runtime that no wheel has, through a package list of its own: the machine's own set-up of apt
# is read and left alone.
set -eu
cd "$(dirname "$0")/../.."
pins=tests/conformance/real_binaries.txt
folder=$PWD/build/binaries

fail() {
    echo "dev: $*" >&2
    exit 1
}

fetch_wheels() {
    /usr/bin/python3 -m venv "$folder/venv"
    # One at a time: pip takes one version of a package.
    grep '==' $pins | while read -r pin; do
        echo "$pin" >"$folder/pin.txt"
        "$folder/venv/bin/pip" download --no-deps --require-hashes --no-cache-dir -d "$folder/wheels" -r "$folder/pin.txt"
        for wheel in "$folder"/wheels/*.whl; do
            /usr/bin/python3 -m zipfile -e "$wheel" "$folder/${pin%% *}"
            rm "$wheel"
        done
    done
    rm -rf "$folder/venv" "$folder/wheels" "$folder/pin.txt"
}

own_apt() {
    apt-get -q -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User= "$@"
}

use_own_list() {
    # shellcheck source=/dev/null
    . /etc/os-release
    [ "$ID" = debian ] || fail "the real libcuda is a package of Debian's non-free, and this is $PRETTY_NAME"
    # Prints only: the addresses that the machine's own apt has.
    mirror=$(apt-get --print-uris update | sed -n "s|^'\(.*\)/dists/$VERSION_CODENAME/InRelease'.*|\1|p" | head -n 1)
    [ -n "$mirror" ] || fail "apt has no address for $VERSION_CODENAME"
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keys] $mirror $VERSION_CODENAME non-free" >"$folder/apt/sources.list"
    own_apt update
}

take() { # PACKAGE PATTERN DIRECTORY: those files of the package
    (cd "$folder/apt" && own_apt download "$1")
    mkdir -p "$3"
    dpkg-deb --fsys-tarfile "$folder/apt/$1"_*.deb | tar -x -C "$3" --wildcards --transform 's|.*/||' "$2"
}

fetch_debian() {
    use_own_list
    take libcuda1 '*/libcuda.so*' "$folder/driver"
    take nvidia-cuda-dev '*/libcudart_static.a' "$folder/debian"
    dpkg-deb -f "$folder"/apt/nvidia-cuda-dev_*.deb Version | cut -d. -f1-2 >"$folder/debian/version"
    rm -rf "$folder/apt"
}

cmp -s $pins "$folder/pins.txt" && [ -e "$folder/debian/version" ] && exit 0
echo "dev: fetching $(grep -c '==' $pins) of NVIDIA's packages from PyPI and two from Debian (3.2 GB)" >&2
mkdir -p "$folder"
exec 3>&2 >build/binaries.log 2>&1
trap '[ -e "$folder/debian/version" ] || echo "dev: could not fetch them: see build/binaries.log" >&3' EXIT
if ! cmp -s $pins "$folder/pins.txt"; then
    rm -rf "$folder"
    mkdir -p "$folder"
    fetch_wheels
    cp $pins "$folder/pins.txt"
fi
fetch_debian
