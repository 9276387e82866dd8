"""What the tests of the widgets share: invented passages, and hypothesis strategies for them."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import strategies as st

from sciextract.documents.annotations import State
from sciextract_app.shared.view_models import Mark, Passage
from sciextract_app.widgets.paragraphs import Line
from sciextract_app.widgets.passage_layout import PassageLayout
from tests.strategies import texts

WORDS = (
    *(
        "graph",
        "n-gram",
        "network",
        "naïve",
        "e\u0301tude",
        "中文",
        "資料",
        "שלום",
        "مرحبا",
        "[12]",
    ),
    *(
        "👩‍🔬",
        "👍🏽",
        "❤️",
        "a\u200db",
        "\u0301",
        "\u200b",
        "\u200d",
        "\x1b[31m",
        "\x07",
        "\t",
        "\n",
    ),
    *("\r\n", "\r", "\u2028", " ", " ", " ", " ", "  ", "\u3000", "。", "x" * 30, "-", "(", ")"),
)
LABELS = ("Task", "Method", "Ω-type")
TITLE = "Coreference for graph parsers"
BODY = (
    "We study the impact of features extracted from parse trees on a coreference resolution system. "
    "The system of Müller [12] reads 中文 and emoji 👩‍🔬, and a stray \x1b[31mescape\x1b[0m stays text; "
    "the features are evaluated on the news corpus, where it gains 2 points of F-measure."
)
TEXT = f"{TITLE}\n{BODY}"


def mark_of(words: str, key: str, label: str, **fields: object) -> Mark:
    """A mention at the first place of some words in the text."""
    start = TEXT.index(words)
    mark = Mark(start, start + len(words), words, key, label, State.UNDECIDED, 0.8)
    return replace(mark, **fields)  # type: ignore[arg-type]


RICH = Passage(
    text=TEXT,
    title_end=len(TITLE),
    marks=(
        mark_of("graph parsers", "m", "Method", state=State.ACCEPTED),
        mark_of("features extracted from parse trees", "o", "OtherScientificTerm", cluster="b"),
        mark_of("parse trees", "o", "OtherScientificTerm", depth=1, score=0.4),
        mark_of("a coreference resolution system", "m", "Method", cluster="a", partner=True),
        mark_of("coreference resolution", "t", "Task", depth=1, focused=True),
        mark_of("resolution system. The system", "g", "Generic", state=State.EDITED),
        mark_of("中文", "d", "Material", state=State.ADDED),
        mark_of("emoji 👩‍🔬", "d", "Material"),
        mark_of("[31mescape", "e", "Metric"),
        mark_of("news corpus", "d", "Material", state=State.IMPORTED, partner=True),
        mark_of("F-measure", "q", "Metric", cluster="ab"),
    ),
    cursor=(TEXT.index("impact"), TEXT.index("impact") + len("impact")),
    candidate=(TEXT.index("2 points"), TEXT.index("2 points") + len("2 points")),
)


def hostile_texts() -> st.SearchStrategy[str]:
    """Texts that a terminal or an offset system trips over."""
    return texts(WORDS, min_size=0) | texts(min_size=0)


@st.composite
def passages(draw: st.DrawFn) -> Passage:
    """Passages with mentions that nest and overlap at random."""
    text = draw(hostile_texts())
    spans = st.tuples(st.integers(0, len(text)), st.integers(0, len(text) + 2))
    marks = [_mark(draw, index, *sorted(span)) for index, span in enumerate(draw(st.lists(spans)))]
    marks.sort(key=lambda mark: (mark.char_start, -mark.char_end))
    return Passage(text, 0, tuple(marks), (0, min(1, len(text))))


def _mark(draw: st.DrawFn, index: int, char_start: int, char_end: int) -> Mark:
    return Mark(
        *(char_start, char_end, f"item{index}"),
        *(draw(st.sampled_from("tmq·文")), draw(st.sampled_from(LABELS))),
        *(draw(st.sampled_from(State)), draw(st.none() | st.floats(0, 1))),
        cluster=draw(st.sampled_from(["", "a", "ab"])),
        last=draw(st.booleans()),
    )


def other_decisions(passage: Passage, seed: int) -> Passage:
    """The same mentions with focus, partners, states and scores at random."""
    rng = random.Random(seed)
    marks = [
        replace(
            mark,
            state=rng.choice(list(State)),
            score=rng.choice([None, 0.1, 0.9]),
            focused=rng.random() < 0.3,
            partner=rng.random() < 0.3,
        )
        for mark in passage.marks
    ]
    return replace(passage, marks=tuple(marks), hints={0: "as"} if rng.random() < 0.5 else {})


def long_passage(tokens: int = 400, entities: int = 60) -> Passage:
    """An invented abstract of so many tokens with so many entities, some nested."""
    rng = random.Random(7)
    words = [
        rng.choice(("graph", "parser", "of", "the", "neural", "corpus")) for _ in range(tokens)
    ]
    starts, place = [], 0
    for word in words:
        starts.append(place)
        place += len(word) + 1
    marks = []
    for index in range(entities):
        first = index * (tokens // entities)
        last = min(tokens - 1, first + rng.randrange(1, 9))
        end = starts[last] + len(words[last])
        label, key = rng.choice((("Task", "t"), ("Method", "m"), ("Metric", "e")))
        marks.append(Mark(starts[first], end, f"e{index}", key, label, State.UNDECIDED, 0.7))
    return Passage(" ".join(words), 40, tuple(marks), (0, len(words[0])))


def with_focus(passage: Passage, focus: int) -> Passage:
    """The same passage with another focused mention, the cursor at its beginning."""
    marks = [replace(mark, focused=index == focus) for index, mark in enumerate(passage.marks)]
    start = passage.marks[focus].char_start
    return replace(passage, marks=tuple(marks), cursor=(start, start + 5))


def lines_of(layout: PassageLayout) -> list[Line]:
    """All lines of a layout."""
    return [layout.line(y) for y in range(layout.height)]
