"""What the project noted about differences, for the first look at it: nothing is compared, so nothing is imported."""

from __future__ import annotations

from sciextract.store.file.failures import translated
from sciextract.store.project import Project


def left_to_decide(project: Project) -> int:
    """Differences with merged projects, as the project noted them last; cheap enough for every opening."""
    with translated(project.path):
        row = project.connection.execute(
            "SELECT coalesce(sum(disagreements), 0) FROM summary WHERE disagreements > 0"
        ).fetchone()
    return int(row[0])
