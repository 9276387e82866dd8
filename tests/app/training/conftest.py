"""Fixtures of the trainings."""

from __future__ import annotations

from tests.app.training.children import child, project

__all__ = ["child", "project"]
