"""A hook of MkDocs: on the site, links to files outside of ``docs/`` lead to the repository."""

from __future__ import annotations

import re
from typing import Any


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """The page with absolute links in place of those that leave the folder of the pages."""
    outside = "../" * (page.file.src_uri.count("/") + 1)
    link = re.compile(rf"\]\({re.escape(outside)}([^)]+)\)")
    return link.sub(rf"]({config.repo_url}/blob/main/\1)", markdown)
