"""A large project: opening, searching, deciding, bulk previews, exporting."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import State
from sciextract.store import EntityRef, Project
from sciextract.store.actions.bulk import Count, counting
from sciextract.store.search import Query, find

ROOT = Path(__file__).resolve().parent.parent
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")
Searches = dict[str, list[float]]
Asked = list[tuple[str, Query]]


def child(*words: object) -> dict[str, float]:
    """What a fresh process measures, and its wall time."""
    begin = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.store_child", *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    measured: dict[str, float] = json.loads(result.stdout)
    return measured | {"wall": time.perf_counter() - begin}


def openings(path: Path, repeats: int, *, cold: bool) -> list[dict[str, float]] | None:
    """Openings by fresh processes; ``None`` where the page cache cannot be emptied."""
    found = []
    for _ in range(repeats):
        if cold and not forget_pages():
            return None
        found.append(child("open", path))
    return found


def remember_pages(path: Path) -> None:
    """Bring the file into the page cache, as after some work on it."""
    with open(path, "rb") as stream:
        while stream.read(1 << 24):
            pass


def forget_pages() -> bool:
    """Empty the page cache, as after switching on; says whether this process may do that."""
    os.sync()
    try:
        _DROP_CACHES.write_text("3")
    except OSError:
        return False
    return True


def queries(project: Project, count: int) -> Asked:
    """Queries as people type them, with words and strings that occur, the same ones every time."""
    chance = random.Random(7)
    numbers = project.numbers()
    kinds = list(_KINDS)
    found = []
    for place in range(count):
        kind = kinds[place % len(kinds)]
        doc = project.document_state(chance.choice(numbers))
        words = [word for word in doc.text.split() if word.isalpha()]
        surfaces = [entity.surface(doc.text) for entity in doc.entities] or words
        found.append((kind, _KINDS[kind](words or ["x"], surfaces, project, chance)))
    return found


def searched(project: Project, asked: Asked, limit: int) -> Searches:
    """Seconds of each query by kind."""
    seconds: Searches = {}
    for kind, query in asked:
        begin = time.perf_counter()
        find(project.connection, query, limit)
        seconds.setdefault(kind, []).append(time.perf_counter() - begin)
    return seconds


def decisions(project: Project, count: int) -> list[float]:
    """Seconds of accepting and rejecting in abstracts all over the project, looking at each one before."""
    chance, seconds = random.Random(11), []
    for number in chance.sample(project.numbers(), count):
        entities = project.document_state(number).entities
        open_ = [entity.id for entity in entities if entity.state is State.UNDECIDED]
        for action, item in zip(
            (project.actions.accept, project.actions.reject), open_, strict=False
        ):
            begin = time.perf_counter()
            action(number, EntityRef(item))
            seconds.append(time.perf_counter() - begin)
    return seconds


def bulk(project: Project, score: float) -> Iterator[tuple[str, float, str]]:
    """Project-wide bulk decisions: what, seconds, how much."""
    for wanted in (20, 2_000):
        number, entity, texts = _with_string_in(project, wanted)
        seconds, (*_, found) = _time(partial(list[Count], counting(project, number, entity)))
        told = f"{texts} texts have it, {found.items} items in {len(found.numbers)}"
        yield "count: all identical strings", seconds, told
    seconds, outcome = _time(lambda: project.actions.accept_above(score))
    yield f"accept all above {score}, with backup", seconds, f"{outcome.items:,} items"
    seconds, _ = _time(project.undo)
    yield "undo of that", seconds, ""


def copied(cached: Path, folder: Path) -> Path:
    """A copy to work on, so that the kept project stays as it is."""
    path = folder / "large.sciextract"
    shutil.copyfile(cached, path)
    os.sync()
    return path


def _with_string_in(project: Project, wanted: int) -> tuple[int, str, int]:
    """An undecided entity whose string is in about so many texts."""
    chance, best = random.Random(3), (0, "", 0)
    for number in chance.sample(project.numbers(), 150):
        doc = project.document_state(number)
        for entity in doc.entities[:3]:
            texts = len(project.documents_with(entity.surface(doc.text)))
            if abs(texts - wanted) < abs(best[2] - wanted) or not best[1]:
                best = (number, entity.id, texts)
        if abs(best[2] - wanted) < wanted / 5:
            break
    return best


def _time(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


Words = list[str]
_Made = Callable[[Words, Words, Project, random.Random], Query]


def _pair(words: Words, chance: random.Random) -> str:
    at = chance.randrange(max(1, len(words) - 1))
    return " ".join(words[at : at + 2])


def _label(project: Project, chance: random.Random) -> str:
    return chance.choice((*project.schema.entity_labels, *project.schema.relation_labels))


_KINDS: dict[str, _Made] = {
    "one word": lambda words, _, __, chance: Query(chance.choice(words)),
    "two words": lambda words, _, __, chance: Query(" ".join(chance.choices(words, k=2))),
    "phrase": lambda words, _, __, chance: Query(f'"{_pair(words, chance)}"'),
    "word in titles": lambda words, _, __, chance: Query(chance.choice(words), "title"),
    "beginning of a word": lambda words, _, __, chance: Query(f"{chance.choice(words)[:5]}*"),
    "mention": lambda _, surfaces, __, chance: Query(f'"{chance.choice(surfaces)}"', "mentions"),
    "label": lambda _, __, project, chance: Query(label=_label(project, chance)),
    "label and state": lambda _, __, project, chance: Query(
        label=_label(project, chance), state=chance.choice(list(State))
    ),
    "words and label": lambda words, _, project, chance: Query(
        chance.choice(words), label=_label(project, chance), state="undecided"
    ),
    "score": lambda _, __, ___, chance: Query(score_below=10 ** chance.uniform(-5, -1)),
}
