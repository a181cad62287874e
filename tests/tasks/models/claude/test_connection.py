"""What a client is made of, what is missing for it, and one call over a real socket."""

import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from schemas.claude import ClaudeSettings, Price
from schemas.errors import InputError
from tasks.models.claude import connection
from tasks.models.claude.connection import check_credentials, wire
from tests.tasks.models.claude.conftest import MakeDesk
from tests.tasks.models.claude.endpoint import FakeClock, asking, reply


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"provider": "anthropic"}, "Set the environment variable ANTHROPIC_API_KEY"),
        ({"provider": "anthropic", "base_url": "http://127.0.0.1:1"}, "ANTHROPIC_API_KEY"),
        ({"provider": "anthropic", "base_url": "127.0.0.1:1"}, "Allowed: http://… or https://…"),
        ({"provider": "bedrock"}, "pip install 'fourcells[bedrock]'"),
        ({"provider": "vertex"}, "pip install 'fourcells[vertex]'"),
    ],
    ids=str,
)
def test_what_is_missing_is_said_before_a_run(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], told: str
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(connection, "_installed", lambda _: False)
    with pytest.raises(InputError) as caught:
        check_credentials(ClaudeSettings(model="some-model", **settings), where="judges/claude.toml [judge]")
    assert told in str(caught.value)
    assert str(caught.value).startswith("judges/claude.toml [judge]: ")


def test_an_address_in_the_environment_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "htp://somewhere")
    with pytest.raises(InputError, match=r"^environment: ANTHROPIC_BASE_URL 'htp://somewhere' is no address"):
        check_credentials(ClaudeSettings(provider="anthropic", model="some-model"), where="judges/claude.toml")


@pytest.mark.parametrize(
    ("soft", "hard", "ends"),
    [(256, 4_096, "raised to 650"), (256, 500, "the system allows 500"), (2_000, 4_096, "raised to 2000")],
    ids=["raised", "too low", "high enough"],
)
def test_connections_need_files(soft: int, hard: int, ends: str) -> None:
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
from schemas.errors import InputError
from tasks.models.claude.connection import ensure_files
try:
    ensure_files(250)
    print("raised to", resource.getrlimit(resource.RLIMIT_NOFILE)[0])
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ends in done.stdout


def test_a_cloud_without_region_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "token")
    settings = ClaudeSettings(provider="bedrock", model="some-model")
    with pytest.raises(InputError, match="Check base_url, region"):
        connection.open_client(settings)


def test_the_clouds_get_clients_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_installed", lambda _: True)
    bedrock = connection.open_client(ClaudeSettings(provider="bedrock", model="m", region="eu-west-1"))
    vertex = connection.open_client(ClaudeSettings(provider="vertex", model="m", region="europe-west1", project="p"))
    assert "eu-west-1" in str(bedrock.base_url)
    assert "europe-west1" in str(vertex.base_url)
    assert bedrock.max_retries == vertex.max_retries == 0


def test_the_desk_does_without_the_sdk_until_it_is_used() -> None:
    code = "import sys, tasks.models.claude.desk; sys.exit('anthropic' in sys.modules or 'httpx2' in sys.modules)"
    root = Path(__file__).parents[4]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_a_forked_child_has_a_loop_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = wire()
    monkeypatch.setattr(os, "getpid", lambda: mine.pid + 1)
    monkeypatch.setattr(connection, "_wire", mine)
    theirs = wire()
    assert theirs is not mine
    theirs.loop.call_soon_threadsafe(theirs.loop.stop)
    theirs.thread.join()
    theirs.loop.close()


class _Handler(BaseHTTPRequestHandler):
    """Over a real socket: resets the first call, leaves the second hanging, and replies to the third."""

    protocol_version = "HTTP/1.1"
    n = 0
    done = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        type(self).n += 1
        self.close_connection = True
        if self.n == 1:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            self.connection.close()
        elif self.n == 2:
            self.done.wait()
        else:
            body = reply("over the wire").content
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_over_a_real_socket(monkeypatch: pytest.MonkeyPatch, make_desk: MakeDesk, clock: FakeClock) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        settings = ClaudeSettings(
            provider="anthropic",
            model="some-model",
            base_url=f"http://127.0.0.1:{server.server_port}",
            deadline_s=0.5,
            price=Price(input_usd=1, output_usd=1),
        )
        [given] = make_desk().converse(settings, [asking()])
    finally:
        _Handler.done.set()
        server.shutdown()
        server.server_close()
        thread.join()
    assert given.reply == "over the wire"
    assert (_Handler.n, clock.waits) == (3, [0.5, 1.0])
