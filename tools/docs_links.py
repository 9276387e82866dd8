"""A hook of MkDocs: links to files outside of ``docs/`` lead to the repository; a page's first sentence describes it."""

from __future__ import annotations

import re
from typing import Any

_FIRST_SENTENCE = re.compile(r"^# .+\n\n([A-Z`*\[].+?\.)(?:\s|$)", re.MULTILINE)
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """The page with absolute links in place of those that leave the folder of the pages."""
    if first := _FIRST_SENTENCE.search(markdown):
        page.meta.setdefault(
            "description", _LINK.sub(r"\1", first[1]).replace("`", "").replace("*", "")
        )
    outside = "../" * (page.file.src_uri.count("/") + 1)
    link = re.compile(rf"\]\({re.escape(outside)}([^)]+)\)")
    return link.sub(rf"]({config.repo_url}/blob/main/\1)", markdown)
