{{/* What changes where the services speak TLS; each is nothing where they do not. */}}
{{- define "signalbox.s" -}}
{{- if .Values.tls.enabled }}s{{ end -}}
{{- end }}

{{- define "signalbox.tlsSecret" -}}
{{ .Values.tls.existingSecret | default (printf "%s-tls" .Release.Name) }}
{{- end }}

{{- define "signalbox.probeScheme" -}}
{{- if .Values.tls.enabled }}, scheme: HTTPS{{ end -}}
{{- end }}

{{/* Certificate and key of a service. */}}
{{- define "signalbox.tlsVolume" -}}
{{- if .Values.tls.enabled -}}
- { name: tls, secret: { secretName: {{ include "signalbox.tlsSecret" . }}, defaultMode: 0440 } }
{{- end }}
{{- end }}

{{- define "signalbox.tlsMount" -}}
{{- if .Values.tls.enabled -}}
- { name: tls, mountPath: /tls, readOnly: true }
{{- end }}
{{- end }}

{{/* Only the CA, for those who call. */}}
{{- define "signalbox.caVolume" -}}
{{- if .Values.tls.enabled -}}
- name: tls-ca
  secret: { secretName: {{ include "signalbox.tlsSecret" . }}, defaultMode: 0440, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- end }}

{{- define "signalbox.caMount" -}}
{{- if .Values.tls.enabled -}}
- { name: tls-ca, mountPath: /ca, readOnly: true }
{{- end }}
{{- end }}

{{/* The sidecar reaches the service of its own pod by the name in the certificate; takes (list . "part"). */}}
{{- define "signalbox.ownName" -}}
{{- $root := index . 0 }}
{{- if $root.Values.tls.enabled -}}
hostAliases: [{ ip: 127.0.0.1, hostnames: [{{ $root.Release.Name }}-{{ index . 1 }}] }]
{{- end }}
{{- end }}
