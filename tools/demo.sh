#!/bin/sh
# Annotates the sample abstracts for the eye, as data, and in a project: tools/demo.sh SCIEXTRACT OUTPUT
set -eu
sciextract=$1
output=$2

show() {
    printf '\n$ sciextract %s\n' "$*"
    "$sciextract" "$@"
}

mkdir -p "$(dirname "$output")"
show annotate sample_data/text/cs-01.txt sample_data/text/bio-01.txt
show annotate sample_data/abstracts.jsonl --to jsonl --output "$output" --force

printf '\nIn the first of %s lines of %s:\n' "$(wc -l <"$output" | tr -d ' ')" "$output"
"$(dirname "$sciextract")/python" - "$output" <<'END'
import json, sys

with open(sys.argv[1], encoding="utf-8") as lines:
    record = json.loads(next(lines))
for key in ("doc_key", "model"):
    print(f'  "{key}": {json.dumps(record[key])}')
for key in ("entities", "links", "groups"):
    for item in record[key][:1]:
        print(f'  "{key}": [{json.dumps(item, ensure_ascii=False)}, ... {len(record[key])} in all]')
END

project=$(dirname "$output")/demo.sciextract
rm -rf "$project" "$project-backups" "$(dirname "$output")/brat"
show init "$project"
show import sample_data/library.ris sample_data/library.bib --project "$project"
show annotate --project "$project"
show search network --in mentions --project "$project" --limit 3
show status --project "$project"
show export --project "$project" --undecided --to brat --output "$(dirname "$output")/brat"
