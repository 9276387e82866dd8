"""Documents as lines of a SciERC file."""

from __future__ import annotations

import json
from typing import Any

from sciextract.documents.document import AnnotatedDocument


def scierc_line(item: AnnotatedDocument) -> str:
    """One document in the SciERC format."""
    tokens, annotations = item.document.tokens, item.annotations
    forms = tokens.slices(item.document.text)
    place = {e.id: words for e in annotations.entities if (words := tokens.aligned(e.span))}

    def in_sentence(row: int, rows: list[list[Any]]) -> list[list[Any]]:
        return [span for span in rows if tokens.sentence_of(span[0]) == row]

    def span(key: str) -> list[int]:
        return [place[key].token_start, place[key].token_end - 1]

    ner = [[*span(e.id), e.label] for e in annotations.entities]
    relations = [[*span(r.head), *span(r.tail), r.label] for r in annotations.relations]
    count = range(len(tokens.sentences))
    record = {
        "doc_key": item.document.doc_key,
        "sentences": [list(forms[s.token_start : s.token_end]) for s in tokens.sentences],
        "ner": [in_sentence(row, ner) for row in count],
        "relations": [in_sentence(row, relations) for row in count],
        "clusters": [[span(key) for key in c.mentions] for c in annotations.clusters],
    }
    return json.dumps(record) + "\n"
