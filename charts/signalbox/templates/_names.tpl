{{- define "signalbox.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Labels that never change, used as selectors of Services and Deployments. Takes (list . "part"). */}}
{{- define "signalbox.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: signalbox
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "signalbox.labels" -}}
{{- $root := index . 0 -}}
{{ include "signalbox.selector" . }}
app.kubernetes.io/part-of: signalbox
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end }}

{{/* Names of cluster-wide objects: releases of one name may live in several namespaces. */}}
{{- define "signalbox.clusterName" -}}
{{- $root := index . 0 -}}
{{ printf "%s-%s-%s" $root.Release.Namespace $root.Release.Name (index . 1) }}
{{- end }}

{{/* The watched namespaces, separated by commas; nothing for all of them. */}}
{{- define "signalbox.namespaces" -}}
{{- if not .Values.watchAllNamespaces }}{{ join "," (.Values.watchNamespaces | default (list .Release.Namespace)) }}{{ end }}
{{- end }}

{{- define "signalbox.tokensSecret" -}}
{{ .Values.auth.existingSecret | default (printf "%s-tokens" .Release.Name) }}
{{- end }}

{{- define "signalbox.isPostgres" -}}
{{- if .Values.database.existingSecret }}true{{ end }}
{{- end }}

{{/* How many pods of a service there may be; takes the values of its part. */}}
{{- define "signalbox.mostReplicas" -}}
{{- .autoscaling.enabled | ternary .autoscaling.maxReplicas .replicas -}}
{{- end }}

{{/* Whether several api-servers can run at the same time: not where they would need one volume that is bound to a node. */}}
{{- define "signalbox.sharesDatabase" -}}
{{- $values := .Values.apiServer -}}
{{- if and (include "signalbox.isPostgres" .) (or (gt (int (include "signalbox.mostReplicas" $values)) 1) (not $values.persistence.enabled)) }}true{{ end }}
{{- end }}

{{/* Whether a service has a volume. Several api-servers must share it, so they need an existing claim. */}}
{{- define "signalbox.hasVolume" -}}
{{- $persistence := .persistence -}}
{{- if and $persistence.enabled (or $persistence.existingClaim (le (int (include "signalbox.mostReplicas" .)) 1)) }}true{{ end }}
{{- end }}

{{/* Rejects invalid combinations of values before anything is created. */}}
{{- define "signalbox.check" -}}
{{- $version := .Capabilities.KubeVersion.Version }}
{{- /* v1.20.0 is the default of a helm that was built without a version and has no cluster. */}}
{{- if and (semverCompare "<1.29.0-0" $version) (ne $version "v1.20.0") }}
{{- fail (printf "Kubernetes 1.29 or newer is needed (native sidecars), this is %s" $version) }}
{{- end }}
{{- if gt (len .Release.Name) 40 }}
{{- fail "the release's name is too long: the names of its objects begin with it, 40 characters at most" }}
{{- end }}
{{- if and (gt (int (include "signalbox.mostReplicas" .Values.apiServer)) 1) (not (include "signalbox.isPostgres" .)) }}
{{- fail "apiServer.replicas: more than 1 needs Postgres, the embedded database belongs to one process; set database.existingSecret" }}
{{- end }}
{{- if and .Values.apiServer.ingress.enabled (not .Values.apiServer.ingress.hosts) }}
{{- fail "apiServer.ingress.hosts: name at least one host" }}
{{- end }}
{{- if and .Values.apiServer.httpRoute.enabled (not .Values.apiServer.httpRoute.parentRefs) }}
{{- fail "apiServer.httpRoute.parentRefs: name the Gateway that serves the route" }}
{{- end }}
{{- if and .Values.watchAllNamespaces .Values.watchNamespaces }}
{{- fail "watchAllNamespaces: every namespace is watched; leave watchNamespaces empty" }}
{{- end }}
{{- if and .Values.tls.enabled (eq (empty .Values.tls.existingSecret) (empty .Values.tls.issuerRef)) }}
{{- fail "tls: set either existingSecret or issuerRef" }}
{{- end }}
{{- range $part := list "apiServer" "gateway" }}
{{- $values := index $.Values $part }}
{{- $config := $values.config }}
{{- if and $values.autoscaling.enabled (gt (int $values.autoscaling.minReplicas) (int $values.autoscaling.maxReplicas)) }}
{{- fail (printf "%s.autoscaling: minReplicas is more than maxReplicas" $part) }}
{{- end }}
{{- range $key := list "host" "port" "tls" }}
{{- if hasKey ($config.server | default dict) $key }}
{{- fail (printf "%s.config.server.%s: is the chart's; for TLS see tls.enabled" $part $key) }}
{{- end }}
{{- end }}
{{- if hasKey $config "managed_dir" }}
{{- fail (printf "%s.config.managed_dir: is the chart's" $part) }}
{{- end }}
{{- end }}
{{- if and (gt (int (include "signalbox.mostReplicas" .Values.gateway)) 1) .Values.gateway.persistence.enabled (not .Values.gateway.persistence.existingClaim) }}
{{- fail "gateway.replicas: more than 1 needs a volume that several pods may write; set gateway.persistence.existingClaim, or turn persistence off" }}
{{- end }}
{{- end }}
