"""The process's one event loop for models, and what lives on it: SDK clients by endpoint, limiters by model."""

import asyncio
import atexit
import contextlib
import gc
import importlib.util
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from schemas.claude import ClaudeSettings, Provider
from schemas.errors import InputError
from tasks.models.claude.limiter import Limiter
from tasks.models.claude.request import BASE_URLS, endpoint
from tasks.store.keys import digest

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicVertex

    Client: TypeAlias = AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex

# As many as `concurrency` may be: the limiter decides, and a connection thrown away costs more than one kept.
_CONNECTIONS: Final = 1_000
# Parts of the store, databases, a second seat's connections.
_OTHER_FILES: Final = 400
_CONNECT_S: Final = 10.0
_CLOSE_S: Final = 1.0
# Threads that wait for the disk. They share transactions, so more of them would not write faster.
_WRITERS: Final = 4
_EXTRAS: Final[dict[Provider, tuple[str, str]]] = {"bedrock": ("boto3", "bedrock"), "vertex": ("google.auth", "vertex")}
_KEYS: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


@dataclass(eq=False)
class Line:
    """A client of one endpoint.

    Attributes:
        settings: Of any seat that uses it.
        answered: Whether any HTTP answer ever came from there.
        counts_tokens: False once it turned out to have no such call.
    """

    settings: ClaudeSettings
    answered: bool = False
    counts_tokens: bool = True

    def __post_init__(self) -> None:
        """Nothing is open: a run whose replies are all kept needs no client."""
        self._guard = threading.Lock()
        self._client: Client | None = None
        self._opening: asyncio.Task[Client] | None = None

    @property
    def client(self) -> "Client":
        """The SDK's client, opened by the first who wants it.

        Raises:
            InputError: When a key, an extra or a region is missing.
        """
        with self._guard:
            if self._client is None:
                self._client = open_client(self.settings)
            return self._client

    async def opened(self) -> "Client":
        """The same for the event loop, which goes on with other things meanwhile.

        Raises:
            InputError: As above.
        """
        if self._client is not None:
            return self._client
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(asyncio.to_thread(lambda: self.client))
        return await asyncio.shield(self._opening)

    async def close(self) -> None:
        """Close what was opened."""
        if self._client is not None:
            await self._client.close()

    @property
    def where(self) -> str:
        """Its address, for messages."""
        return str(self.client.base_url).rstrip("/")


class Channel(NamedTuple):
    """What a call to one model goes through."""

    line: Line
    limiter: Limiter


@dataclass(eq=False)
class Wire:
    """One event loop in a thread of its own: a limiter shared by several loops would be none."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    writers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_WRITERS, "fourcells-journal"))
    pid: int = field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        """Start the loop."""
        self._guard = threading.Lock()
        self._lines: dict[str, Line] = {}
        self._limiters: dict[str, Limiter] = {}
        self._channels: dict[ClaudeSettings, Channel] = {}
        # A daemon, so that calls a person has left with a second Ctrl-C do not hold the process.
        self.thread = threading.Thread(target=self.loop.run_forever, name="fourcells-models", daemon=True)
        self.thread.start()
        atexit.register(self.close)

    def close(self) -> None:
        """Close the connections: the process ends."""
        if self.pid != os.getpid() or not self.thread.is_alive():
            return
        for line in self._lines.values():
            closing = asyncio.run_coroutine_threadsafe(line.close(), self.loop)
            # Whoever left calls in flight does not wait for them here either.
            with contextlib.suppress(Exception):
                closing.result(timeout=_CLOSE_S)

    def channel(self, settings: ClaudeSettings) -> Channel:
        """The client and the limiter for a seat's calls. From any thread."""
        found = self._channels.get(settings)
        if found is None:
            with self._guard:
                place = digest([settings.provider, endpoint(settings)])
                line = self._lines.setdefault(place, Line(settings))
                limiter = Limiter(lambda: f"{settings.model} at {line.where}")
                limiter = self._limiters.setdefault(digest([place, settings.model]), limiter)
                found = self._channels.setdefault(settings, Channel(line, limiter))
        return found


_wire: Wire | None = None
_opening: Final = threading.Lock()


def wire() -> Wire:
    """This process's event loop; started when first used, and anew in a forked child, which has no such thread."""
    global _wire  # noqa: PLW0603 - one of a process, by definition
    if _wire is None or _wire.pid != os.getpid():
        with _opening:
            if _wire is None or _wire.pid != os.getpid():
                _wire = Wire()
    return _wire


def check_credentials(settings: ClaudeSettings, *, where: str = "") -> None:
    """See, before a run, that a seat's calls can be made; asks no network and does not import the SDK.

    Args:
        settings: Of the seat.
        where: File and table of the settings, for the error.

    Raises:
        InputError: When the API key or the extra of a cloud is not there, or the address is none.
    """
    named, address = "base_url", settings.base_url
    if address is None and (found := os.environ.get(BASE_URLS[settings.provider])):
        named, address, where = BASE_URLS[settings.provider], found, "environment"
    if address is not None and not address.startswith(("http://", "https://")):
        raise InputError(f"{named} {address!r} is no address", where=where, allowed="http://… or https://…")
    ensure_files(settings.concurrency, where=where)
    if settings.provider == "anthropic":
        if not any(os.environ.get(name) for name in _KEYS):
            raise InputError(
                f"model {settings.model!r} needs an API key, and there is none",
                where=where,
                remedy="Set the environment variable ANTHROPIC_API_KEY (an endpoint of your own that asks for no "
                'key takes any text). Without a key, provider = "offline" works.',
            )
        return
    module, extra = _EXTRAS[settings.provider]
    # With a bearer token nothing has to be signed.
    if settings.provider == "bedrock" and os.environ.get("AWS_BEARER_TOKEN_BEDROCK"):
        return
    if not _installed(module):
        raise InputError(
            f"provider {settings.provider!r} needs the package {module}, which is not installed",
            where=where,
            remedy=f"pip install 'fourcells[{extra}]'",
        )


def ensure_files(concurrency: int, *, where: str = "") -> None:
    """Have the system let this process open as many connections as calls may be in flight, and its files beside them.

    Raises:
        InputError: When it does not: replies would be paid for that could not be kept.
    """
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = concurrency + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    if most < wanted:
        raise InputError(
            f"concurrency {concurrency} needs {wanted} open files, and the system allows {hard}",
            where=where,
            remedy="Lower concurrency, or raise the limit with: ulimit -n.",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def open_client(settings: ClaudeSettings) -> "Client":
    """Make the SDK's client of an endpoint. Repeating is ours, so that waiting calls hold no slot.

    Raises:
        InputError: When a key, an extra or a region is missing.
    """
    check_credentials(settings)
    import anthropic  # noqa: PLC0415 - importing the SDK takes most of a second
    import httpx2  # noqa: PLC0415 - the SDK's own transport

    _freeze_loaded()
    limits = httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
    # On aiohttp: httpcore's pool looks at every idle connection at each request, a fifth of all processor time.
    http_client = anthropic.DefaultAioHttpClient(limits=limits)
    # No spans: they cost every call processor time, and what was asked stands in the journal.
    shared: dict[str, Any] = {"max_retries": 0, "http_client": http_client, "open_telemetry": False}
    try:
        match settings.provider:
            case "anthropic":
                return anthropic.AsyncAnthropic(base_url=settings.base_url, **shared)
            case "bedrock":
                return anthropic.AsyncAnthropicBedrock(
                    base_url=settings.base_url,
                    aws_region=settings.region,
                    **shared,
                )
            case "vertex":
                return anthropic.AsyncAnthropicVertex(
                    base_url=settings.base_url,
                    region=settings.region or anthropic.NOT_GIVEN,
                    project_id=settings.project or anthropic.NOT_GIVEN,
                    **shared,
                )
    except (ValueError, httpx2.InvalidURL) as error:
        raise InputError(
            f"no client for provider {settings.provider!r} can be made: {error}",
            remedy="Check base_url, region and, for Vertex, project in the setup's or judge's TOML.",
        ) from error


@lru_cache(maxsize=64)
def time_out(deadline_s: float) -> "httpx2.Timeout":
    """Time-outs of one attempt: connecting is quick or it fails, everything else may take the whole deadline."""
    from anthropic import Timeout  # noqa: PLC0415

    return Timeout(deadline_s, connect=min(deadline_s, _CONNECT_S))


@cache
def _freeze_loaded() -> None:
    """Spare the collector what the process has loaded and keeps: a look at all of it holds every call for 0.1 s."""
    gc.freeze()


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
