"""Settings: from the environment, with defaults that work on one machine.

Every field is read from ``TOPICWEAVE_<FIELD>``; the three that say which Neo4j to use keep their usual names
(``NEO4J_URI``, ``NEO4J_USER``, ``NEO4J_PASSWORD``). The command line's options come before the environment.
"""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend.errors import BadValue

Port = Annotated[int, Field(ge=1, le=65535)]
Megabytes = Annotated[int, Field(ge=64)]
Count = Annotated[int, Field(ge=1)]


class Settings(BaseSettings):
    """What an installation is told from outside; one home directory is one installation."""

    model_config = SettingsConfigDict(
        env_prefix="TOPICWEAVE_", env_ignore_empty=True, frozen=True, extra="ignore", populate_by_name=True
    )

    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("topicweave"))
    cache: Path = Field(default_factory=lambda: platformdirs.user_cache_path("topicweave"))
    api_host: str = "127.0.0.1"
    api_port: Port = 8080
    api_key: SecretStr | None = None
    api_url: str | None = None  # where commands find a running API; None: where `up` says it is
    max_body_bytes: Annotated[int, Field(ge=1024)] = 16 * 2**20
    max_upload_bytes: Annotated[int, Field(ge=1024)] = 2 * 2**30
    max_id_length: Annotated[int, Field(ge=36, le=256)] = (
        256  # the longest that algorithms.ids knows; ids of rebuilds and imports have 36
    )
    max_page_size: Count = 500
    max_batch_size: Count = 1000  # changes in one atomic batch
    max_broker_topics: Count = 20_000
    max_batch_subscriptions: Count = 200_000  # topics of all changes of a batch: they are one transaction
    max_queued_rebuilds: Count = 20  # waiting or being computed
    max_queued_imports: Count = 10  # waiting, with their files, or being done
    query_seconds: Annotated[float, Field(gt=0, le=3600)] = (
        30.0  # what a query of the analysts' library may take
    )
    query_rows: Count = 10_000  # and answer
    history_days: Annotated[float, Field(ge=0, le=36_500)] = 90.0  # how long changes are kept; 0: for ever
    history_versions: Count | None = None  # how many of them; None: as many as there are
    log_format: Literal["auto", "json", "text"] = "auto"  # auto: text on a terminal, JSON lines elsewhere
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    console_port: Port = 8501
    console_key: Literal["home", "ask"] = "home"  # home: on this machine it uses the home's admin key unasked
    bolt_port: Port = 7687
    demo: str | None = None
    neo4j_uri: str | None = Field(None, validation_alias="NEO4J_URI")
    neo4j_user: str = Field("neo4j", validation_alias="NEO4J_USER")
    neo4j_password: SecretStr | None = Field(None, validation_alias="NEO4J_PASSWORD")
    neo4j_heap_mb: Megabytes = 1024
    neo4j_page_cache_mb: Megabytes = 256
    spark_master: str = "local[*]"  # where rebuilds on Spark run
    spark_memory: Annotated[str, Field(pattern=r"^[1-9]\d*[mg]$")] = "3g"  # of a job's own Java
    spark_connector: str | None = None  # jars or a Maven coordinate, with commas; None: the locked connector
    maven_url: str | None = None  # None: the public repository, see backend.managed.jars

    @classmethod
    def load(cls, **options: Any) -> Settings:
        """Settings from options (None: not given) and the environment; a bad one is named in one line."""
        try:
            return cls(**{name: value for name, value in options.items() if value is not None})
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            raise BadValue(f"{name}: {first['msg']} (got {first['input']!r})", field=name) from None

    @property
    def bolt_uri(self) -> str:
        """The server to use: the one that was named, else the managed one."""
        return self.neo4j_uri or f"bolt://127.0.0.1:{self.bolt_port}"

    @property
    def is_loopback(self) -> bool:
        """Does the API listen to this machine alone?"""
        try:
            return self.api_host == "localhost" or ip_address(self.api_host).is_loopback
        except ValueError:
            return False

    @property
    def local_api_url(self) -> str:
        """Where this machine reaches the API it runs."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.api_host, self.api_host)  # noqa: S104
        return f"http://[{host}]:{self.api_port}" if ":" in host else f"http://{host}:{self.api_port}"

    def find_neo4j_password(self) -> str:
        """The password from the environment, else from the home directory."""
        return _secret(self.neo4j_password, self.neo4j_password_file, "NEO4J_PASSWORD")

    def find_api_key(self) -> str:
        """The admin key from the environment, else from the home directory."""
        return _secret(self.api_key, self.api_key_file, "TOPICWEAVE_API_KEY")

    @property
    def api_key_file(self) -> Path:
        """Where ``up`` writes the admin key it made."""
        return self.home / "api-key"

    @property
    def neo4j_password_file(self) -> Path:
        """Where ``up`` writes the password of Neo4j's user neo4j."""
        return self.home / "neo4j-password"


def beyond_loopback(settings: Settings) -> str:
    """What whoever opens the API to other machines must know."""
    return (
        f"the API listens on {settings.api_host}, reachable from other machines, and speaks plain HTTP: keys and "
        "answers can be read on the way. Put TLS in front of it (a reverse proxy), or listen on 127.0.0.1"
    )


def _secret(given: SecretStr | None, file: Path, variable: str) -> str:
    if given is not None:
        return given.get_secret_value()
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadValue(
            f"{variable}: not set, and {file} cannot be read: {error.strerror}", field=variable
        ) from None
