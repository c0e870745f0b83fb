#!/bin/sh
# The wheel for any Linux whose glibc is 2.17 or later, from any newer one: the C compiler of the ziglang package links
# with that glibc's symbols, archives of libelf, zstd, lz4 and zlib go into the command, libcjson beside it.
#   wheel.sh PYTHON DIRECTORY      PYTHON: of an environment made from wheel.txt
set -eu
python=$1
directory=$2
source=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Headers of the bundled libraries come after those of the old glibc.
cat >"$scratch/cc" <<END
#!/bin/sh
exec "$python" -m ziglang cc -target x86_64-linux-gnu.2.17 -idirafter /usr/include "\$@"
END
chmod +x "$scratch/cc"
tools=$(dirname "$python")
archives=/usr/lib/$(gcc -print-multiarch)
export CC="$scratch/cc" PATH="$tools:$PATH" CMAKE_ARGS="-DWARPWATCH_BUNDLE=ON -DCMAKE_LIBRARY_PATH=$archives"
unset CMAKE_C_COMPILER_LAUNCHER

"$python" -m pip wheel --quiet --no-deps --no-build-isolation -w "$scratch" "$source"
"$python" -m auditwheel repair --plat manylinux_2_17_x86_64 --lib-sdir /lib -w "$directory" "$scratch"/warpwatch-*.whl
