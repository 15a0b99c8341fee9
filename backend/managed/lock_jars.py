"""Makes the lock files of jars: ``python -m backend.managed.lock_jars`` (needs Maven on the PATH, and a network).

Maven resolves the versions once, here; users fetch what the locks name, which takes seconds instead of minutes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

import click

from backend.errors import CannotRun
from backend.managed.jars import Jar, sha256_of

LOCKS = {
    # lock: (coordinate, with what it depends on?); the connector is one shaded jar
    "neo4j": ("org.neo4j:neo4j:5.26.30", True),
    "spark": ("org.neo4j:neo4j-connector-apache-spark_2.13:5.3.10_for_spark_3", False),
}

_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>topicweave</groupId><artifactId>lock</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>
  </dependencies>
</project>
"""


def resolve(coordinate: str, *, transitive: bool) -> list[Jar]:
    """The jars a program needs to run ``coordinate``, as Maven resolves them, sorted by coordinate."""
    group, artifact, version = coordinate.split(":")
    with tempfile.TemporaryDirectory() as directory:
        pom = Path(directory, "pom.xml")
        pom.write_text(_POM.format(group=escape(group), artifact=escape(artifact), version=escape(version)))
        listing = Path(directory, "jars.txt")
        command = [
            *("mvn", "--quiet", "--batch-mode", "--file", str(pom), "dependency:list"),
            *("-DincludeScope=runtime", "-DoutputAbsoluteArtifactFilename=true", f"-DoutputFile={listing}"),
            f"-DexcludeTransitive={str(not transitive).lower()}",
        ]
        try:
            subprocess.run(command, check=True, stdout=sys.stderr)
        except (OSError, subprocess.CalledProcessError) as error:
            raise CannotRun(f"Maven cannot resolve {coordinate}: {error}") from error
        return sorted(_parse_listing(listing.read_text()), key=lambda jar: jar.coordinate)


def _parse_listing(text: str) -> list[Jar]:
    jars = []
    for line in text.splitlines():
        # group:artifact:jar[:classifier]:version:scope:path
        parts = line.strip().split(":")
        if len(parts) >= 6 and parts[2] == "jar":
            *classifier, version, _scope, path = parts[3:]
            jar = Jar(parts[0], parts[1], version, "".join(classifier), sha256_of(Path(path)))
            jars.append(jar)
    return jars


def lock_text(coordinate: str, jars: list[Jar]) -> str:
    """The lock file's text; refuses jars that would share a file name in the cache."""
    names = [jar.file_name for jar in jars]
    if not jars or len(set(names)) < len(names):
        raise CannotRun(f"{coordinate}: no jars, or two with one file name")
    head = f"# {coordinate} and what it needs to run; made by python -m backend.managed.lock_jars\n"
    return head + "".join(f"{jar.coordinate}  {jar.sha256}\n" for jar in jars)


@click.command()
def main() -> None:
    """Resolve every lock anew and write it next to this module."""
    for name, (coordinate, transitive) in LOCKS.items():
        jars = resolve(coordinate, transitive=transitive)
        Path(__file__).with_name(f"{name}.lock").write_text(lock_text(coordinate, jars), encoding="utf-8")
        click.echo(f"{name}.lock: {len(jars)} jars")


if __name__ == "__main__":
    main()
