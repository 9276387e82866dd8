"""The page of a table in a headless browser."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from sciextract.table.job import TableJob
from sciextract.table.papers import Wanted, paper_of_file
from tests.browser import headless_browser, quiet_page
from tests.graph_samples import HOSTILE, abstract, field


def test_search_filters_and_sentences_of_hostile_words(tmp_path: Path) -> None:
    page_file = tmp_path / "t.html"
    hostile = abstract("x", f"We parse {HOSTILE}.", {HOSTILE: "Method"})
    papers = [paper_of_file(found, Wanted(undecided=True)) for found in [*field(), hostile]]
    job = TableJob(str(page_file), None, None, True, False, False, Wanted(undecided=True))
    job.write(papers, ((), (), ()), HOSTILE)
    with headless_browser() as browser, quiet_page(browser) as page:
        page.goto(page_file.as_uri())
        shown = page.locator("tbody tr:visible")
        expect(shown).to_have_count(len(papers))
        page.fill("#search", "hyperlink(")
        expect(shown).to_have_count(1)
        page.fill("#search", "")
        page.get_by_label("Filter key").fill("x")
        expect(shown).to_have_count(1)
        expect(page.locator("tbody q:visible")).to_have_count(0)
        page.check("#open")
        expect(shown.locator("q")).to_contain_text("We parse")
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark")
