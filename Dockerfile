# One image for every part of Signalbox; the first argument says which: docker run signalbox api-server --help
# Needs no registry but npm's and Debian's, and no BuildKit. Runs as user 65532 with a read-only root filesystem.
FROM node:24-bookworm-slim AS bundle
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY crds/package.json crds/
COPY gateway/package.json gateway/
COPY api-server/package.json api-server/
COPY controller/package.json controller/
COPY e2e/package.json e2e/
RUN npm ci --omit=dev -w crds -w gateway -w api-server -w controller -w e2e
COPY . .
# A program that its user may execute and not read keeps what else runs as that user, such as a tool server, out of its
# environment and memory.
RUN node e2e/bundle/bundle.ts --out /app --user 65532 && chmod 0711 /usr/local/bin/node

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Signalbox" \
      org.opencontainers.image.description="Turns cluster alerts into trusted, reviewable agent runs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim"
# As the first process of a container Node gets no signal before it asks for it, and nobody collects what tool servers leave behind.
RUN apt-get update && apt-get install -y --no-install-recommends tini libstdc++6 && chmod 0711 /usr/bin/tini && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=bundle /usr/local/bin/node /usr/local/bin/
COPY --from=bundle /app /app
RUN ln -s /app/signalbox /usr/local/bin/ && install -d -m 0711 -o 65532 -g 65532 /data
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compile-cache
WORKDIR /app
USER 65532:65532
EXPOSE 8000 18780 18781
ENTRYPOINT ["tini", "--", "signalbox"]
