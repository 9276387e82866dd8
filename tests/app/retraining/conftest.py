"""Fixtures of the trainings."""

from __future__ import annotations

from tests.app.retraining.children import child, project

__all__ = ["child", "project"]
