#!/bin/sh
# Renews sciextract/graph/page_assets/library.js and its licences: the graph library that the page of
# "sciextract graph view" contains. Needs npm; the versions below are the ones that are tested.
set -eu

assets=$(cd "$(dirname "$0")/../sciextract/graph/page_assets" && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$build"
npm install --silent --no-audit --no-fund \
    sigma@3.0.3 graphology@0.26.0 graphology-layout-forceatlas2@0.10.1 \
    graphology-layout-noverlap@0.4.2 esbuild@0.28.2

cat > entry.js <<'JS'
export { MultiDirectedGraph } from "graphology";
export { default as Sigma } from "sigma";
export { EdgeArrowProgram, EdgeLineProgram, EdgeRectangleProgram } from "sigma/rendering";
export { default as forceAtlas2 } from "graphology-layout-forceatlas2";
export { default as noverlap } from "graphology-layout-noverlap";
export { default as LayoutWorker } from "graphology-layout-forceatlas2/worker";
JS
npx esbuild entry.js --bundle --minify --format=iife --global-name=library \
    --metafile=bundle.json --outfile=library.js --log-level=warning
# Inside a script element neither of these may stand.
if grep -qiE '</script|<!--' library.js; then
    echo "library.js would end the script element that contains it" >&2
    exit 1
fi
for name in $(grep -oE '"node_modules/[^/"]+' bundle.json | cut -d/ -f2 | sort -u); do
    printf '%s %s\n\n' "$name" "$(node -p "require('./node_modules/$name/package.json').version")"
    cat node_modules/"$name"/LICENSE*
    echo
done > library-licences.txt
cp library.js library-licences.txt "$assets"
