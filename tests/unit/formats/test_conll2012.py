"""CoNLL-2012: columns as OntoNotes has them, the scorer's short ones, and what `scorch` makes of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from scorch.conll import parse_file

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, open_writer, read

ONTONOTES = """#begin document (nw/gk); part 001
nw/gk 1 0 Ada     NNP (TOP(S(NP* - - - Ann (PERSON* * (0
nw/gk 1 1 Lovelace NNP *)         - - - Ann *)       * 0)
nw/gk 1 2 met     VBD (VP*       - - - Ann *        * -
nw/gk 1 3 -LRB-   -LRB- *        - - - Ann *        * (1
nw/gk 1 4 her     PRP *          - - - Ann *        * (0)
nw/gk 1 5 lab     NN  *))        - - - Ann (ORG)    * (2)|1)

nw/gk 1 0 She     PRP (TOP*)     - - - Ann *        * (0)

#end document
#begin document (short); part 000
short 0 0 It (3)
short 0 1 . -
"""


def read_all(path: Path, content: str) -> list[AnnotatedDocument | BadRecord]:
    path.write_text(content, "utf-8")
    return list(read([path]))


def test_names_and_coreference_are_read(tmp_path: Path) -> None:
    found, short = read_all(tmp_path / "a.v4_gold_conll", ONTONOTES)
    assert isinstance(found, AnnotatedDocument) and isinstance(short, AnnotatedDocument)
    text = found.document.text
    assert (found.document.doc_key, text) == ("nw/gk_1", "Ada Lovelace met ( her lab She")
    entities = found.annotations.entities
    names = [(entity.text_of(text), entity.label) for entity in entities if entity.label]
    assert names == [("Ada Lovelace", "PERSON"), ("lab", "ORG")]
    clusters = [
        [found.annotations.entity(mention).text_of(text) for mention in cluster.mentions]
        for cluster in found.annotations.clusters
    ]
    assert sorted(clusters) == [["( her lab"], ["Ada Lovelace", "her", "She"], ["lab"]]
    assert found.unread == {"conll2012 columns of a token": 7}
    assert (short.document.doc_key, len(short.annotations.clusters)) == ("short", 1)


def test_scorch_reads_the_clusters(tmp_path: Path) -> None:
    found, _ = read_all(tmp_path / "a.conll", ONTONOTES)
    assert isinstance(found, AnnotatedDocument)
    writer = open_writer("conll2012", tmp_path / "out.conll")
    writer.write(found)
    writer.close()
    assert writer.losses == found.unread
    lines = (tmp_path / "out.conll").read_text("utf-8").splitlines()
    assert [line.split()[10] for line in lines[1:7]] == ["(PERSON*", "*)", "*", "*", "*", "(ORG)"]
    [(name, clusters)] = parse_file(lines)
    assert name == "nw/gk_1-000"
    mentions = [(0, "0", "1"), (0, "4", "4"), (1, "0", "0")]
    assert sorted(clusters.values()) == sorted([mentions, [(0, "3", "5")], [(0, "5", "5")]])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a 0 0 It 0)", "a.conll:2: doc_key 'a': coreference: '0)' found, but its bracket"),
        ("a 0 0 It (0", "its bracket has no partner"),
        ("a 0 0 It zero", "coreference: 'zero' found; expected '-', '(1'"),
        ("a 0 0 It", "4 columns found; expected 5 or more"),
        ("a 0 0 It XX * - - - - (X* -", "names: '(X*' found"),
    ],
)
def test_a_broken_document_costs_only_itself(tmp_path: Path, row: str, problem: str) -> None:
    content = f"#begin document (a); part 000\n{row}\n#end document\n"
    bad, good = read_all(tmp_path / "a.conll", content + content.replace(row, "b 0 0 It -"))
    assert isinstance(bad, BadRecord) and problem in bad.error.message
    assert isinstance(good, AnnotatedDocument)
