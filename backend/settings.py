"""Settings: from the environment, with defaults that work on one machine.

Every field is read from ``TOPICWEAVE_<FIELD>``; the three that say which Neo4j to use keep their usual names
(``NEO4J_URI``, ``NEO4J_USER``, ``NEO4J_PASSWORD``). The command line's options come before the environment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import platformdirs
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend.errors import BadValue

Port = Annotated[int, Field(ge=1, le=65535)]
Megabytes = Annotated[int, Field(ge=64)]


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
    console_port: Port = 8501
    bolt_port: Port = 7687
    demo: str | None = None
    neo4j_uri: str | None = Field(None, validation_alias="NEO4J_URI")
    neo4j_user: str = Field("neo4j", validation_alias="NEO4J_USER")
    neo4j_password: SecretStr | None = Field(None, validation_alias="NEO4J_PASSWORD")
    neo4j_heap_mb: Megabytes = 1024
    neo4j_page_cache_mb: Megabytes = 256
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


def _secret(given: SecretStr | None, file: Path, variable: str) -> str:
    if given is not None:
        return given.get_secret_value()
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadValue(
            f"{variable}: not set, and {file} cannot be read: {error.strerror}", field=variable
        ) from None
