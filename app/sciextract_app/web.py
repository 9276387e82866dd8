"""The review desk in a browser: textual-serve behind a token.

textual-serve starts one desk for each page that connects and checks nobody. So each request is checked here, WebSockets
included: the token, which the link brings once and a cookie from then on; the host, because a foreign name that resolves to
this machine would make a foreign page one of this server's own (DNS rebinding); and the page that a request comes from.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from importlib.resources import files

from aiohttp import web
from aiohttp.typedefs import Handler
from textual_serve.server import Server
from yarl import URL

from sciextract.errors import SciextractError

_FOREIGN_FONT = re.compile(r"<link[^>]*fonts\.googleapis\.com[^>]*>")
# The template's scripts stand in the page, where our policy runs none; this one takes their place.
_INLINE = re.compile(r"<script>.*?</script>", re.DOTALL)
_SCRIPT = """addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button"))
    button.addEventListener("click", () => location.assign("/"));
  // Keys arrive from the start, without a click into the terminal.
  new MutationObserver(() => document.querySelector(".xterm-helper-textarea")?.focus())
    .observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
"""
_HEAD = """<title>sciextract: the review desk</title><link rel="icon" href="data:,">
<script src="/desk.js"></script></head>"""
_TEXT_MODE = "screenReaderMode:!1", "screenReaderMode:!0"
"""The switch of xterm.js that repeats the rows of the screen as text, and announces those that change."""
_PAGES = frozenset({"/", "/text"})
_SOURCE = re.compile(r"[\w.:\[\]-]+", re.ASCII)
_ANSWERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class WebDesk(Server):
    """Serves a command that runs the desk.

    Args:
        command: For a shell; each page that connects runs it.
        host: The address to listen on.
        port: The port; 0 takes a free one.

    Raises:
        SciextractError: The address cannot be listened on.
    """

    def __init__(self, command: str, host: str, port: int) -> None:
        try:
            # Before the link is printed, so that a port in use is an error and not a dead link.
            self._socket = socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
            )
        except (OSError, OverflowError) as error:
            problem = f"{host} port {port} cannot be opened: {error}"
            raise SciextractError(problem, "choose another --port, or 0 for a free one") from error
        super().__init__(command, host, self._socket.getsockname()[1], title="sciextract")
        self._token = secrets.token_urlsafe(32)
        self._cookie = f"sciextract-{self.port}"  # cookies do not tell ports apart
        self._names = {"localhost", host, socket.gethostname(), socket.getfqdn()}

    @property
    def link(self) -> str:
        """The address that opens the desk, token included."""
        everywhere = self.host in ("0.0.0.0", "::")
        host = socket.gethostname() if everywhere else self.host
        return str(
            URL.build(scheme="http", host=host, port=self.port, query={"token": self._token})
        )

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host == "localhost" or (
            _is_address(self.host) and ipaddress.ip_address(self.host).is_loopback
        )

    def serve(self, debug: bool = False) -> None:
        """Serve until Ctrl-C. Requests are not logged: their addresses hold the token."""
        self.debug = debug
        web.run_app(
            self._make_app(), sock=self._socket, print=None, access_log=None, shutdown_timeout=3
        )

    async def _make_app(self) -> web.Application:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._check_addresses(request)
            if self._is_token(request.query.get("token", "")) and request.path in _PAGES:
                # On to an address without the token, so that it stays in no history.
                answer = web.Response(status=303, headers={"Location": request.path})
                answer.set_cookie(self._cookie, self._token, httponly=True, samesite="Lax")
                return answer
            if not self._is_token(request.cookies.get(self._cookie, "")):
                raise web.HTTPForbidden(
                    text="Open the link that sciextract tui --web has printed.\n"
                )
            return await handler(request)

        async def script(request: web.Request) -> web.Response:
            return web.Response(text=_SCRIPT, content_type="text/javascript")

        app = await super()._make_app()

        async def text_mode(request: web.Request) -> web.Response:
            path = files("textual_serve") / "static" / "js" / "textual.js"
            terminal = path.read_text("utf-8").replace(*_TEXT_MODE)
            return web.Response(text=terminal, content_type="text/javascript")

        app.router.add_get("/desk.js", script)
        app.router.add_get("/text", self.handle_index)
        app.router.add_get("/text.js", text_mode)
        app.middlewares.append(guard)
        app.on_response_prepare.append(_harden)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the command has shown the link."""

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """The page, which connects to the name by which this server was reached, such as that of a tunnel."""
        # Nothing else runs between this line and the one that reads it: the handler awaits nothing.
        self.public_url = f"{request.scheme}://{request.host}"
        page = await super().handle_index(request)
        assert isinstance(page, web.Response) and page.text is not None
        text = _INLINE.sub("", _FOREIGN_FONT.sub("", page.text)).replace(' onClick="refresh()"', "")
        text = text.replace("<html>", '<html lang="en">').replace("</head>", _HEAD)
        label = 'id="terminal" role="region" aria-label="Review desk"'
        page.text = text.replace('id="terminal"', label)
        if request.path == "/text":
            text = re.sub(r'src="[^"]*textual\.js"', 'src="/text.js"', page.text)
            # In large letters no list stands beside the text: a row is a row of it.
            page.text = re.sub(r'data-font-size="\d+"', 'data-font-size="24"', text)
        return page

    def _is_token(self, given: str) -> bool:
        # Takes as long for any wrong token, so that none can be found character by character.
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def _check_addresses(self, request: web.Request) -> None:
        try:
            host = URL(f"//{request.host}").host or ""
        except ValueError:
            host = ""
        if not (_is_address(host) or host in self._names):
            raise web.HTTPForbidden(text="This server does not answer to that name.\n")
        origin = request.headers.get("Origin")
        own = f"{request.scheme}://{request.host}"
        if origin != own and (origin is not None or request.path == "/ws"):
            raise web.HTTPForbidden(text="This request comes from another page.\n")


async def _harden(request: web.Request, answer: web.StreamResponse) -> None:
    answer.headers.update(_ANSWERS)
    # Not every browser takes 'self' to include WebSockets.
    socket_ = f"ws://{request.host} wss://{request.host}" if _SOURCE.fullmatch(request.host) else ""
    answer.headers["Content-Security-Policy"] = (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data:; connect-src 'self' {socket_}; frame-ancestors 'none'"
    )


def _is_address(host: str) -> bool:
    """Whether it is an IP address: no foreign name can be one."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
