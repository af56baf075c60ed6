{{/* Common parts of all pods, with restricted pod security. */}}
{{- define "signalbox.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "signalbox.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Scheduling of a pod; takes the values of its part. */}}
{{- define "signalbox.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The name of the pod, by which the status of objects names its replicas. */}}
{{- define "signalbox.podNameEnv" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- end }}

{{/* One variable out of the token Secret; takes (list . "NAME" "key"). */}}
{{- define "signalbox.tokenEnv" -}}
- name: {{ index . 1 }}
  valueFrom: { secretKeyRef: { name: {{ include "signalbox.tokensSecret" (index . 0) }}, key: {{ index . 2 }} } }
{{- end }}

{{/* The variable with the gateway's token for the api-server: the approve token, where the Secret has one. */}}
{{- define "signalbox.gatewayTokenName" -}}
{{- if or (not .Values.auth.existingSecret) .Values.auth.existingApproveToken -}}GATEWAY_APPROVE_TOKEN{{- else -}}GATEWAY_INVOKE_TOKEN{{- end -}}
{{- end }}

{{/* The service account token, for the one container that mounts it: the services never talk to Kubernetes. */}}
{{- define "signalbox.accountVolume" -}}
- name: account
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken: { path: token, expirationSeconds: 3607 }
      - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
      - downwardAPI: { items: [{ path: namespace, fieldRef: { fieldPath: metadata.namespace } }] }
{{- end }}

{{- define "signalbox.accountMount" -}}
- { name: account, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true }
{{- end }}

{{/* A volume that outlives the pod where persistence is on; takes (list . "part" values). */}}
{{- define "signalbox.dataVolume" -}}
{{- $root := index . 0 }}
{{- $persistence := (index . 2).persistence -}}
- name: data
  {{- if include "signalbox.hasVolume" (index . 2) }}
  persistentVolumeClaim: { claimName: {{ $persistence.existingClaim | default (printf "%s-%s" $root.Release.Name (index . 1)) }} }
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}

{{/* The native sidecar that writes objects as files; takes (dict "root" . "kinds" "…" "part" "…" "port" 8000). */}}
{{- define "signalbox.sync" -}}
- name: sync
  image: {{ include "signalbox.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  restartPolicy: Always
  args:
    - controller
    - sync
    - --kinds={{ .kinds }}
    - --dir=/managed
    - --reload-url={{ .root.Values.tls.enabled | ternary (printf "https://%s-%s" .root.Release.Name .part) "http://127.0.0.1" }}:{{ .port }}/reload
    - --reload-token-file=/tokens/reload
    - --service-config=/config/api-server.yaml
    - --service-config=/config/gateway.yaml
    - --host=0.0.0.0
    - --port=8081
    {{- with include "signalbox.namespaces" .root }}
    - --namespaces={{ . }}
    {{- end }}
  {{- if .root.Values.tls.enabled }}
  env: [{ name: NODE_EXTRA_CA_CERTS, value: /ca/ca.crt }]
  {{- end }}
  ports: [{ name: sync, containerPort: 8081 }]
  # The files are written before the service starts.
  startupProbe: { httpGet: { path: /readyz, port: sync }, periodSeconds: 1, failureThreshold: 300 }
  livenessProbe: { httpGet: { path: /healthz, port: sync }, periodSeconds: 10, timeoutSeconds: 5 }
  resources: {{- toYaml .root.Values.sync.resources | nindent 4 }}
  securityContext: {{- include "signalbox.containerSecurity" .root | nindent 4 }}
  volumeMounts:
    - { name: managed, mountPath: /managed }
    - { name: config, mountPath: /config, readOnly: true }
    - { name: reload-token, mountPath: /tokens, readOnly: true }
    - { name: tmp, mountPath: /tmp }
    {{- with include "signalbox.caMount" .root }}{{ . | nindent 4 }}{{ end }}
    {{- include "signalbox.accountMount" .root | nindent 4 }}
{{- end }}

{{/* Whether the token Secret has tokens of the role reload. */}}
{{- define "signalbox.hasReloadTokens" -}}
{{- if or (not .Values.auth.existingSecret) .Values.auth.existingReloadTokens }}true{{ end }}
{{- end }}

{{/* Volumes beside the data; takes (list . "" or "gateway-"), the prefix of the service's tokens. */}}
{{- define "signalbox.serviceVolumes" -}}
{{- $root := index . 0 -}}
- { name: managed, emptyDir: {} }
- { name: tmp, emptyDir: {} }
- { name: config, configMap: { name: {{ $root.Release.Name }}-config } }
- name: reload-token
  secret:
    secretName: {{ include "signalbox.tokensSecret" $root }}
    defaultMode: 0440
    items: [{ key: {{ index . 1 }}{{ if include "signalbox.hasReloadTokens" $root }}reload{{ else }}admin{{ end }}-token, path: reload }]
{{ include "signalbox.accountVolume" $root }}
{{- end }}
