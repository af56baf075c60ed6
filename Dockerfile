# One image for every part of Signalbox; the first argument says which: docker run signalbox api-server --help
# Needs no registry but npm's, and no BuildKit. Runs as user 65532 with a read-only root filesystem.
FROM node:24-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY crds/package.json crds/
COPY gateway/package.json gateway/
COPY api-server/package.json api-server/
COPY controller/package.json controller/
COPY e2e/package.json e2e/
# The base image brings Node, so the optional runtime of development machines stays out, and so does what only editors read.
RUN npm ci --omit=dev --omit=optional --ignore-scripts -w crds -w gateway -w api-server -w controller \
    && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' -o -name '*.flow' \) -delete

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=modules /app/node_modules node_modules
COPY . .
# Without an argument SIGNALBOX_ROLE says what to run, for places where only the environment can be set.
RUN printf '%s\n' '#!/bin/sh' 'set -e' \
      '[ $# -gt 0 ] || set -- "${SIGNALBOX_ROLE:---help}"' \
      'part=$1; shift' \
      'case $part in' \
      '  api-server | gateway | controller) exec node "/app/$part/start.mjs" "$@" ;;' \
      '  agent-runner) exec node /app/gateway/runner.mjs "$@" ;;' \
      '  machine-tools) exec node /app/config/local/machine-tools/server.ts "$@" ;;' \
      '  backup) exec node /app/api-server/backup.mjs "$@" ;;' \
      '  validate) exec node /app/crds/src/cli/validate.ts "$@" ;;' \
      '  *) echo "usage: signalbox api-server|gateway|controller|agent-runner|machine-tools|backup|validate [options]"; [ "$part" = --help ] ;;' \
      'esac' >/usr/local/bin/signalbox \
    && chmod 755 /usr/local/bin/signalbox \
    && install -d -o 65532 -g 65532 /app/.compile-cache /data
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compile-cache
USER 65532:65532
# Every part is started once, so that the image holds its compiled code: a read-only filesystem could not keep it later.
RUN mkdir -p /tmp/warm/pipelines && cd /tmp/warm \
    && printf '%s\n' 'server: {host: 127.0.0.1, port: 0}' 'pipeline_config_dir: pipelines' 'database: {url: "sqlite:warm.db"}' \
      'auth: {allow_unauthenticated: true}' 'executors: {gateway: {url: "ws://127.0.0.1:9/rpc"}}' >api-server.yaml \
    && printf '%s\n' 'server: {port: 0}' 'agents_dir: agents' 'identity_dir: identity' \
      'mcp_servers: {machine: {command: signalbox, args: [machine-tools]}}' >gateway.yaml \
    && printf '%s\n' 'apiVersion: v1' 'kind: Config' 'current-context: none' 'contexts: [{name: none, context: {cluster: none, user: none}}]' \
      'clusters: [{name: none, cluster: {server: "http://127.0.0.1:9"}}]' 'users: [{name: none, user: {}}]' >kubeconfig \
    && export KUBECONFIG=/tmp/warm/kubeconfig && warm() { \
         : >log; signalbox "$@" >>log 2>&1 & pid=$!; \
         for _ in $(seq 600); do grep -q '"msg":"listening"' log && break; kill -0 $pid || break; sleep 0.1; done; \
         kill -TERM $pid && wait $pid || { echo "signalbox $* does not start:"; cat log; exit 1; }; \
       } \
    && warm api-server --config api-server.yaml \
    && warm gateway --config gateway.yaml \
    && warm controller manager --leader-elect=false \
    && warm controller sync --kinds Pipeline --dir managed --reload-url http://127.0.0.1:9 \
    && signalbox agent-runner --help >log && signalbox validate --help >log \
    && cd / && rm -rf /tmp/warm && du -sh "$NODE_COMPILE_CACHE"
EXPOSE 8000 18780 18781
ENTRYPOINT ["signalbox"]
