#!/bin/sh
# Writes constraints.txt from a fresh environment with the newest versions: tools/pins.sh PYTHON FOLDER
# PYTHON should be the oldest that is supported (Debian 12 has 3.11.2), so that every pinned version runs on it.
set -eu
python=$1
folder=$2

rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --quiet --disable-pip-version-check torch==2.13.0 '.[all,bench,dev,docs]'
{
    sed -n '/^#/p' constraints.txt
    "$folder/bin/python" -m pip list --format freeze --exclude pip --exclude sciextract |
        sed 's/+.*//' | tr 'A-Z_' 'a-z-' | LC_ALL=C sort
} >"$folder/constraints.txt"
mv "$folder/constraints.txt" constraints.txt
rm -rf "$folder"
