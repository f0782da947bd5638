# A worker image: the package in a virtual environment of its own, on a slim Python.
#
#   docker build --tag echomq-worker .
#   docker run --read-only --tmpfs /tmp --env ECHOMQ_REDIS_URL=... --volume ./jobs.py:/srv/jobs.py:ro \
#       echomq-worker run jobs:app
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/build && python -m venv --without-pip /opt/echomq
COPY requirements/build.txt requirements/runtime.txt requirements/
RUN /opt/build/bin/pip install --require-hashes --only-binary :all: -r requirements/build.txt \
    && /opt/build/bin/pip --python /opt/echomq/bin/python install \
        --require-hashes --only-binary :all: -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY echomq_worker echomq_worker
RUN /opt/build/bin/hatchling build -t wheel -d /dist \
    && /opt/build/bin/pip --python /opt/echomq/bin/python install --no-deps /dist/*.whl

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="echomq-worker" \
    org.opencontainers.image.description="A worker daemon for EchoMQ queues on Redis or Valkey" \
    org.opencontainers.image.licenses="MIT"
ENV PATH=/opt/echomq/bin:${PATH} PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
COPY --from=build /opt/echomq /opt/echomq
WORKDIR /srv
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-m", "echomq_worker.health"]
ENTRYPOINT ["echomq"]
