"""Held-out predictions of a bundled model, by which ``annotate --promise`` chooses thresholds: labels and scores, no text.

``python -m research.held_out --data FOLDER [--model bio]`` writes the file into the package, named after the hash of the model.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from research.partial_labels.datasets import TaughtSet, documents_of, load_sets, read_records
from research.partial_labels.make_bio import FIT_WORDS, PLAN, first_words
from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.formats import BadRecord, read
from sciextract.inference.held_out import held_out, write_held_out
from sciextract.inference.settings import TASKS
from sciextract.resources import bundled_models

MOST = 200
"""Texts of each biomedical set, so that the file stays small."""

Pair = tuple[AnnotatedDocument, AnnotatedDocument]


def main() -> None:
    """Predict the gold down to low scores, and write what was right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="sci", choices=["sci", "bio"])
    options = parser.parse_args()
    extractor = Extractor.load(options.model)
    if options.model == "sci":
        pairs = list(_of_scierc(extractor, options.data))
        source = "SciERC dev, which thresholds and edition were chosen on, too"
    else:
        pairs = list(_of_biomedical_sets(extractor, options.data))
        source = "dev parts of ChemProt, BC5CDR, BC2GM, LINNAEUS and GENIA behind the words that thresholds were fitted on"
    gold, predicted = zip(*pairs, strict=True)
    held = held_out(f"{len(gold)} texts: {source}", gold, predicted)
    path = bundled_models() / "held_out" / f"{extractor.model.hash[:8]}.json"
    path.parent.mkdir(exist_ok=True)
    write_held_out(path, held)
    print(path, sum(map(len, held.items.values())), "items")


def _of_scierc(extractor: Extractor, data: Path) -> Iterator[Pair]:
    low = extractor.with_settings(dict.fromkeys(TASKS, 0.05))
    gold = [
        record for record in read([data / "scierc/dev.jsonl"]) if not isinstance(record, BadRecord)
    ]
    return zip(gold, low.stream([annotated.document for annotated in gold]), strict=True)


def _of_biomedical_sets(extractor: Extractor, data: Path) -> Iterator[Pair]:
    """Each text counts for the labels of its set only; all labels compete, as they do in ``annotate``."""
    low = extractor.with_settings(dict.fromkeys(TASKS, 0.3))
    for taught in load_sets(PLAN, load_schema("bio")).sets:
        path = data / taught.name / "dev.jsonl"
        documents = list(documents_of(read_records(path), taught, path))
        left = documents[len(first_words(documents, FIT_WORDS)) :][:MOST]
        if taught.train:
            gold = [item.annotated for item in left]
            found = low.stream([annotated.document for annotated in gold])
            print(taught.name, len(gold), flush=True)
            yield from zip(gold, (_only(prediction, taught) for prediction in found), strict=True)


def _only(found: AnnotatedDocument, taught: TaughtSet) -> AnnotatedDocument:
    own = found.annotations
    entities = tuple(entity for entity in own.entities if entity.label in taught.teaches)
    relations = own.relations if taught.relations else ()
    ids = {entity.id for entity in entities}
    relations = tuple(relation for relation in relations if {relation.head, relation.tail} <= ids)
    return replace(found, annotations=replace(own, entities=entities, relations=relations))


if __name__ == "__main__":
    main()
