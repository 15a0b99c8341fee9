# One image for the API, the console and Spark; docker-compose.yml says which of them a container runs.
FROM python:3.12-slim-bookworm

# A system Java for Spark; Neo4j runs in its own image.
RUN apt-get update \
    && apt-get install --no-install-recommends --yes openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/topicweave
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY algorithms algorithms
COPY backend backend
COPY cypher cypher
COPY spark spark
COPY ui ui
# The lock also names what development needs; as a constraint it pins only what the product asks for.
RUN pip install --no-cache-dir uv \
    && sed -e 's/ *\\$//' -e '/--hash=/d' requirements.lock > /tmp/constraints.txt \
    && uv pip install --system --no-cache --constraint /tmp/constraints.txt . \
    && rm -rf /opt/topicweave/*

RUN useradd --create-home --uid 1000 topicweave
USER topicweave
WORKDIR /home/topicweave
RUN mkdir -p .cache
CMD ["python", "-m", "backend.api"]
