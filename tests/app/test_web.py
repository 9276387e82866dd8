"""The server of the desk in a browser lets in who has the token, and nobody else."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import ClientSession, CookieJar, WSServerHandshakeError
from aiohttp.test_utils import TestServer

from sciextract.errors import SciextractError
from sciextract_app.web import WebDesk


class Served:
    """A server whose desk is a command that only waits."""

    def __init__(self, desk: WebDesk, session: ClientSession) -> None:
        self.desk, self._session = desk, session
        self.address = f"http://127.0.0.1:{desk.port}"

    async def get(self, path: str, **headers: str) -> int:
        async with self._session.get(self.address + path, headers=headers) as answer:
            return answer.status

    async def connect(self, **headers: str) -> int:
        try:
            async with self._session.ws_connect(self.address + "/ws", headers=headers):
                return 101
        except WSServerHandshakeError as error:
            return error.status


@pytest_asyncio.fixture
async def served() -> AsyncIterator[Served]:
    desk = WebDesk("cat", "127.0.0.1", 0)
    async with (
        TestServer(await desk._make_app(), port=desk.port, socket_factory=lambda *_: desk._socket),
        ClientSession(cookie_jar=CookieJar(unsafe=True)) as session,
    ):
        yield Served(desk, session)


@pytest.mark.asyncio
async def test_without_the_token_nothing_is_served(served: Served) -> None:
    for path in (
        "/",
        "/?token=",
        "/?token=wrong",
        "/static/js/textual.js",
        "/desk.js",
        "/text",
        "/text.js",
        "/download/x",
    ):
        assert await served.get(path) == 403
    assert await served.get("/", Cookie=f"sciextract-{served.desk.port}=wrong") == 403
    assert await served.connect(Origin=served.address) == 403


@pytest.mark.asyncio
async def test_the_link_lets_in_and_the_token_leaves_the_address(served: Served) -> None:
    async with served._session.get(served.desk.link) as answer:
        assert (answer.status, str(answer.url)) == (200, served.address + "/")
        page = await answer.text()
        assert served.address.replace("http", "ws") + "/ws" in page
        assert "googleapis" not in page
        policy = answer.headers["Content-Security-Policy"]
        own = served.address.partition("//")[2]
        assert "script-src 'self';" in policy
        assert f"connect-src 'self' ws://{own} wss://{own};" in policy
        assert "<script>" not in page and "onClick" not in page
        assert 'src="/desk.js"' in page
        assert "<title>sciextract" in page and 'lang="en"' in page
    async with served._session.get(served.desk.link.replace("/?", "/text?")) as answer:
        assert str(answer.url) == served.address + "/text"
        page = await answer.text()
        assert 'src="/text.js"' in page and "textual.js" not in page
    async with served._session.get(served.address + "/text.js") as answer:
        assert "screenReaderMode:!0" in await answer.text()
    assert await served.get("/desk.js") == 200
    assert await served.get("/static/js/textual.js") == 200
    assert await served.connect(Origin=served.address) == 101


@pytest.mark.asyncio
async def test_other_pages_and_names_are_refused(served: Served) -> None:
    assert await served.get(served.desk.link.removeprefix(served.address)) == 200
    port = served.desk.port
    assert await served.connect() == 403
    for origin in ("http://evil.example", f"http://evil.example:{port}", "null"):
        assert await served.connect(Origin=origin) == 403
        assert await served.get("/", Origin=origin) == 403
    rebound = f"evil.example:{port}"
    assert await served.get("/", Host=rebound) == 403
    assert await served.connect(Host=rebound, Origin=f"http://{rebound}") == 403
    assert await served.get("/", Host=f"localhost:{port}") == 200  # as through a tunnel


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SciextractError, match=f"port {port} cannot be opened"):
            WebDesk("cat", "127.0.0.1", port)
