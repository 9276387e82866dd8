"""A mention that somebody took out of a cluster is in none of the files that are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Cluster, Entity, Span, State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats import open_writer, read
from sciextract.metrics.counts import scorable
from sciextract.text.analyse import analyse

TEXT = "Otters swim. They swim well. It rains."
PLACES = {"Otters": "a", "They": "b", "It": "c"}


def three_in_a_cluster() -> AnnotatedDocument:
    """Of the three mentions of the cluster the last was rejected, as a mention of it."""
    entities = tuple(
        Entity(
            name,
            (Span(TEXT.index(words), TEXT.index(words) + len(words)),),
            "Material",
            state=State.ACCEPTED,
        )
        for words, name in PLACES.items()
    )
    states = (State.ACCEPTED, State.ACCEPTED, State.REJECTED)
    cluster = Cluster("C", ("a", "b", "c"), None, State.ACCEPTED, mention_states=states)
    return AnnotatedDocument(
        Document("d", TEXT, analyse(TEXT)), Annotations(entities, (), (cluster,))
    )


@pytest.mark.parametrize(
    "format",
    ["brat", "pubtator", "prodigy", "doccano", "labelstudio", "xmi", "bioc-json", "scierc"],
)
def test_it_is_not_written(format: str, tmp_path: Path) -> None:
    path = tmp_path / ("out" if format in ("brat", "xmi") else "out.json")
    writer = open_writer(format, path)
    writer.write(three_in_a_cluster())
    writer.close()
    [found] = read([path], format)
    assert isinstance(found, AnnotatedDocument)
    spans = {entity.id: entity.span for entity in found.annotations.entities}
    [cluster] = found.annotations.clusters
    words = [
        found.document.text[spans[mention].char_start : spans[mention].char_end]
        for mention in cluster.mentions
    ]
    assert words == ["Otters", "They"]


def test_it_is_no_row_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    writer = open_writer("csv", path)
    writer.write(three_in_a_cluster())
    writer.close()
    rows = [
        line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("mention")
    ]
    assert len(rows) == 2 and not any(",It" in row for row in rows)


def test_it_does_not_count_in_scores() -> None:
    [cluster] = scorable(three_in_a_cluster()).clusters
    assert len(cluster) == 2


def test_a_part_of_a_cluster_keeps_scores_and_states() -> None:
    states = (State.ACCEPTED, State.REJECTED, State.UNDECIDED)
    cluster = Cluster("C", ("a", "b", "c"), mention_scores=(0.1, 0.2, 0.3), mention_states=states)
    part = cluster.only({"b", "c"})
    assert (part.mentions, part.mention_scores) == (("b", "c"), (0.2, 0.3))
    assert (part.mention_states, part.live_mentions) == (states[1:], ["c"])
    assert Cluster("C", ("a", "b")).only({"b"}) == Cluster("C", ("b",))
