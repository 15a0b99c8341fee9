"""Commands that ask the running API: where it is and which key to send come from the home directory.

What the API refuses becomes the same :class:`Problem` it raised there, so ``main`` prints its one line and ends with
its exit code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import httpx2

from backend import errors
from backend.errors import BadValue, CannotRun, Problem
from backend.managed.home import Home
from backend.settings import Settings

PATIENCE = httpx2.Timeout(60, connect=5)
QUERY_PATIENCE = httpx2.Timeout(3600 + 60, connect=5)
"""The API itself ends a query, after TOPICWEAVE_QUERY_SECONDS, an hour at the most."""


class Remote:
    """The running API of one installation."""

    def __init__(self, url: str, key: str, timeout: httpx2.Timeout = PATIENCE) -> None:
        self.url = url.rstrip("/")
        # Proxies of the machine are not for this call.
        try:
            self._client = httpx2.Client(
                base_url=self.url, headers={"X-API-Key": key}, timeout=timeout, trust_env=False
            )
        except httpx2.InvalidURL as error:
            raise BadValue(f"api_url: {error} (got {url!r})", field="api_url") from None

    @classmethod
    def of_home(cls, home: Path | None) -> Self:
        """The API that ``up`` runs in this home, or the one TOPICWEAVE_API_URL names."""
        settings = Settings.load(home=home)
        url = settings.api_url
        if url is None:
            running = Home(settings.home).running()
            if running is None or not running.alive():
                raise CannotRun(f"nothing runs in {settings.home}: start it with `topicweave up`")
            url = running.api
        return cls(url, settings.find_api_key())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str, **options: Any) -> Any:
        """The JSON of a GET."""
        return self.call("GET", path, **options)

    def post(self, path: str, **options: Any) -> Any:
        """The JSON of a POST; ``json=``, ``files=``, ``params=`` as in httpx."""
        return self.call("POST", path, **options)

    def delete(self, path: str, **options: Any) -> Any:
        """The JSON of a DELETE."""
        return self.call("DELETE", path, **options)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """One call: its JSON (None where there is none), or the problem it met."""
        with self._answering():
            answer = self._client.request(method, path, **options)
        if not answer.is_success:
            raise problem_of(answer)
        return answer.json() if answer.content else None

    def download(self, path: str, target: IO[bytes], **options: Any) -> httpx2.Headers:
        """A GET whose answer goes to a file as it comes; its headers."""
        with self._answering(), self._client.stream("GET", path, **options) as answer:
            if not answer.is_success:
                answer.read()
                raise problem_of(answer)
            for chunk in answer.iter_bytes():
                target.write(chunk)
            return answer.headers

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except httpx2.TimeoutException:
            raise CannotRun(f"the API at {self.url} gave no answer in time") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise CannotRun(f"the API at {self.url} does not answer: {error}") from None


def problem_of(answer: httpx2.Response) -> Problem:
    """The problem that an answer stands for, of the class it had in the API."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or "detail" not in body:
        return CannotRun(f"{answer.url} answered {answer.status_code} {answer.reason_phrase}")
    slug = str(body.get("type", "")).rpartition(":")[2]
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Problem)]
    kind = next((kind for kind in kinds if kind.slug == slug), Problem)
    return kind(str(body["detail"]), field=body.get("field"))
