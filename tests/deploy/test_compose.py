"""No container engine is needed: the file is held against the Compose schema and against what the product reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from backend.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def test_the_file_obeys_the_compose_schema() -> None:
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text())
    jsonschema.validate(COMPOSE, schema)


def test_the_schema_check_can_fail() -> None:
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {**COMPOSE, "services": {"api": {"healthcheck": {"retries": "many", "tset": []}}}}, schema
        )


def test_every_service_has_a_health_check() -> None:
    assert [name for name, service in SERVICES.items() if "healthcheck" not in service] == []


def test_spark_runs_only_in_its_profile() -> None:
    assert {name for name, service in SERVICES.items() if service.get("profiles") == ["spark"]} == {
        "spark-master",
        "spark-worker",
    }


def test_the_worker_may_write_where_it_works() -> None:
    assert SERVICES["spark-worker"]["environment"]["SPARK_WORKER_DIR"].startswith("/tmp/")


@pytest.mark.parametrize("secret", ["NEO4J_PASSWORD", "TOPICWEAVE_API_KEY"])
def test_a_missing_secret_keeps_everything_from_starting(secret: str) -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    uses = re.findall(r"\$\{" + secret + r"[^}]*\}", text)
    assert uses
    assert all(use.startswith("${" + secret + ":?") for use in uses)


def test_the_api_reads_every_variable_it_is_given() -> None:
    known = {f"TOPICWEAVE_{name.upper()}" for name in Settings.model_fields}
    known |= {str(field.validation_alias) for field in Settings.model_fields.values()}
    assert set(SERVICES["api"]["environment"]) - known == set()


def test_ports_are_open_on_loopback_only() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_named_volumes_are_declared() -> None:
    mounted = {mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])}
    assert mounted == set(COMPOSE["volumes"])


def test_the_image_runs_as_a_normal_user() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users == ["topicweave"]
    assert lines.index("USER topicweave") < next(i for i, line in enumerate(lines) if line.startswith("CMD "))
