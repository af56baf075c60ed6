{{/* Merges the second map into the first, in place. Unlike sprig's merges, false, 0 and "" win too, and null removes a key. */}}
{{- define "signalbox.lay" -}}
{{- $under := index . 0 -}}
{{- range $key, $value := index . 1 -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $under $key -}}
{{- else if and (kindIs "map" $value) (kindIs "map" (get $under $key)) -}}
{{- include "signalbox.lay" (list (get $under $key) $value) -}}
{{- else -}}
{{- $_ := set $under $key $value -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "signalbox.apiServerConfig" -}}
{{- $config := fromYaml (include "signalbox.apiServerDefaults" .) }}
{{- include "signalbox.lay" (list $config .Values.apiServer.config) }}
{{- toYaml $config }}
{{- end }}

{{- define "signalbox.apiServerDefaults" -}}
server:
  host: "0.0.0.0"
  port: 8000
  pod_name: "${POD_NAME}"
  {{- if .Values.tls.enabled }}
  tls: { cert: /tls/tls.crt, key: /tls/tls.key }
  {{- end }}
  {{- with include "signalbox.publicUrl" . }}
  public_url: {{ . }}
  {{- end }}
managed_dir: /managed
{{- /* Without a shared volume, several replicas do not write definitions and store artifacts in the database. */}}
{{- if or (le (int (include "signalbox.mostReplicas" .Values.apiServer)) 1) (include "signalbox.hasVolume" .Values.apiServer) }}
pipeline_config_dir: /data/pipelines
step_library_dir: /data/steps
artifacts: { dir: /data/artifacts }
{{- else }}
artifacts: {}
{{- end }}
database:
  url: {{ if include "signalbox.isPostgres" . }}"${DATABASE_URL}"{{ else }}"sqlite:/data/signalbox.db"{{ end }}
executors:
  gateway:
    url: ws{{ include "signalbox.s" . }}://{{ .Release.Name }}-gateway:18780/rpc
    rest_url: http{{ include "signalbox.s" . }}://{{ .Release.Name }}-gateway:18780
    {{- if .Values.tls.enabled }}
    tls: { ca: /tls/ca.crt }
    {{- end }}
    token: {{ printf "${%s}" (include "signalbox.gatewayTokenName" .) }}
dedup: { enabled: true }
# Alertmanager does not retry after a 429, so runs queue instead.
concurrency: { on_full: queue }
auth:
  session_secret: ${SIGNALBOX_SESSION_SECRET}
  tokens:
    - { name: admin, role: admin, token: "${SIGNALBOX_ADMIN_TOKEN}" }
    - { name: operator, role: operator, token: "${SIGNALBOX_OPERATOR_TOKEN}" }
    - { name: viewer, role: viewer, token: "${SIGNALBOX_VIEWER_TOKEN}" }
    - { name: alertmanager, role: webhook, token: "${SIGNALBOX_WEBHOOK_TOKEN}" }
    {{- if include "signalbox.hasReloadTokens" . }}
    - { name: sync, role: reload, token: "${SIGNALBOX_RELOAD_TOKEN}" }
    {{- end }}
{{- end }}

{{/* Where people reach the pages; nothing without an Ingress or a route. A Gateway is taken to serve TLS. */}}
{{- define "signalbox.publicUrl" -}}
{{- $ingress := .Values.apiServer.ingress -}}
{{- $route := .Values.apiServer.httpRoute -}}
{{- if $ingress.enabled -}}
{{ $ingress.tls | empty | ternary "http" "https" }}://{{ first $ingress.hosts }}
{{- else if and $route.enabled $route.hostnames -}}
https://{{ first $route.hostnames }}
{{- end -}}
{{- end }}

{{- define "signalbox.gatewayConfig" -}}
{{- $config := fromYaml (include "signalbox.gatewayDefaults" .) }}
{{- include "signalbox.lay" (list $config .Values.gateway.config) }}
{{- toYaml $config }}
{{- end }}

{{- define "signalbox.gatewayDefaults" -}}
server:
  host: "0.0.0.0"
  port: 18780
  pod_name: "${POD_NAME}"
  {{- if .Values.tls.enabled }}
  tls: { cert: /tls/tls.crt, key: /tls/tls.key }
  {{- end }}
managed_dir: /managed
agents_dir: /data/agents
identity_dir: /data/identity
runtime: { mode: kubernetes }
# The tool server of the agents in config/samples: it only reads, and sees only its own container.
mcp_servers:
  machine:
    image: {{ include "signalbox.image" . }}
    port: 18790
    env: { SIGNALBOX_ROLE: machine-tools, PORT: "18790" }
# Agents call no tool that the operator does not allow. A list in `gateway.config` replaces this one.
tool_policy:
  default: deny
  rules:
    - allow: { server: machine }
tool_pinning: warn
{{- end }}

{{/* Rolls pods when either file changes: the sidecars check every object against both. */}}
{{- define "signalbox.configChecksum" -}}
checksum/config: {{ printf "%s\n%s" (include "signalbox.apiServerConfig" .) (include "signalbox.gatewayConfig" .) | sha256sum }}
{{- end }}
