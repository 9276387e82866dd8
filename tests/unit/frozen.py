"""Files of released versions other than projects, in ``tests/fixtures/frozen``: a graph, an adapter, a release, an export.

``python -m tests.unit.frozen`` writes those that today's versions lack; what is there is never written again.
"""

from __future__ import annotations

import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sciextract.formats.exchange import SCHEMA_VERSION
from sciextract.graph.building import repair_graph
from sciextract.graph.database import VERSION
from sciextract.graph.repairs import Repair, add_repair
from sciextract.inference.adapter.folder import save_adapter
from sciextract.inference.adapter.model import Heads
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_config import FORMAT_VERSION, AdapterBase
from sciextract.store import open_project
from sciextract.store.project_settings import ReleaseTerms
from sciextract.workflows.export_project import ExportJob
from sciextract.workflows.release.job import ReleaseJob
from tests.graph_samples import build, field
from tests.unit.store import released

FROZEN = Path(__file__).resolve().parents[1] / "fixtures" / "frozen"


def _write_graph(target: Path, folder: Path) -> None:
    build(folder / "graph", *field())
    repair = Repair("merge", "neural networks", "SVM")
    repair_graph(folder / "graph", lambda connection: add_repair(connection, repair))
    with closing(sqlite3.connect(folder / "graph")) as connection:
        numbers = [
            f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("application_id", "user_version")
        ]
        target.write_text("\n".join([*numbers, *connection.iterdump(), ""]), "utf-8")


def _write_adapter(target: Path, folder: Path) -> None:
    """Untrained heads: they say what the base says, and take little room."""
    base = Extractor.load("sci")
    about = AdapterBase("sci", base.model.hash, ("entities", "relations", "coreference"), 0)
    config = replace(base.config, name="frozen", scores={}, origin={}, adapter=about)
    heads = Heads.untrained(config.labels, config.labels, 384)
    made = folder / "frozen"
    made.mkdir()
    save_adapter(made, heads, config, "# frozen\n", None)
    with tarfile.open(target, "w:xz") as archive:
        archive.add(made, made.name)


def _write_release(target: Path, folder: Path) -> None:
    with open_project(released.load(folder / "frozen.sciextract")) as project:
        ReleaseJob(ReleaseTerms("CC-BY-4.0", "Nobody, 2026"), target, everything=True).run(project)


def _write_export(target: Path, folder: Path) -> None:
    with open_project(released.load(folder / "frozen.sciextract")) as project:
        ExportJob("jsonl", str(target), undecided=True).run(project)


WRITERS: Mapping[str, Callable[[Path, Path], None]] = {
    f"graph_{VERSION}.sql": _write_graph,
    f"adapter_{FORMAT_VERSION}.tar.xz": _write_adapter,
    f"release_{SCHEMA_VERSION}": _write_release,
    f"export_{SCHEMA_VERSION}.jsonl": _write_export,
    f"export_{SCHEMA_VERSION}_with_state.jsonl": _write_export,  # since records hold project_state
}


def main() -> None:
    """Write what today's versions lack."""
    FROZEN.mkdir(exist_ok=True)
    for name, write in WRITERS.items():
        if not (FROZEN / name).exists():
            with tempfile.TemporaryDirectory() as folder:
                write(FROZEN / name, Path(folder))


if __name__ == "__main__":
    main()
