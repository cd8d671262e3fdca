{{/*
All services, as data: every template loops over this list.
  values      its name below `values.services`
  kind        Deployment, or StatefulSet where a pod has a folder of its own
  database    the connection below `values.postgres`, whose schema it migrates
  encryption  whether it has an encryption key of its own
  internal    whether it knows INTERNAL_TOKEN
  calls       the services, servers and networks that it connects to; network policies of both ends follow from it
  users       whether it starts processes as users of their own, for which it has to be root, unless it is `restricted`
  clients     who else connects to it: `clients` of the platform
*/}}
{{- define "runyard.services" -}}
gateway:
  values: gateway
  kind: Deployment
  internal: true
  calls: [org-access, control-plane, oauth-broker, registry, run-history, {{ if .Values.consoleUrl }}console, {{ end }}deployments, redis, eventBus]
  clients: true
  graceSeconds: 60
org-access:
  values: orgAccess
  kind: Deployment
  database: orgAccess
  encryption: true
  internal: true
  calls: [control-plane, postgres, eventBus, internet]
  graceSeconds: 60
control-plane:
  values: controlPlane
  kind: StatefulSet
  database: controlPlane
  encryption: true
  internal: true
  calls: [org-access, registry, postgres, redis, eventBus, storage, internet]
  graceSeconds: 200
registry:
  values: registry
  kind: Deployment
  database: registry
  internal: true
  calls: [control-plane, postgres, storage, internet]
  graceSeconds: 60
oauth-broker:
  values: oauthBroker
  kind: Deployment
  database: oauthBroker
  encryption: true
  internal: true
  calls: [org-access, control-plane, postgres, redis, eventBus, internet]
  graceSeconds: 60
run-history:
  values: runHistory
  kind: Deployment
  database: runHistory
  internal: true
  calls: [org-access, control-plane, postgres, redis, eventBus]
  graceSeconds: 60
{{- if .Values.consoleUrl }}
console:
  values: console
  kind: Deployment
  internal: true
  calls: [gateway, org-access]
  graceSeconds: 60
{{- end }}
builder:
  values: builder
  kind: Deployment
  users: true
  internal: false
  calls: [control-plane, registry, redis, internet]
  graceSeconds: 60
data-plane:
  values: dataPlane
  kind: StatefulSet
  encryption: true
  internal: false
  calls: [control-plane, deployments, postgres, redis, eventBus, kubernetesApi]
  graceSeconds: 200
{{- end -}}

{{/* What pods of deployments connect to: the key set of org-access, tokens of people, their databases, and models. */}}
{{- define "runyard.deploymentCalls" -}}
calls: [org-access, gateway, postgres, redis, eventBus, internet]
{{- end -}}

{{- define "runyard.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "runyard.release" -}}
app.kubernetes.io/name: runyard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "runyard.labels" -}}
{{ include "runyard.release" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "runyard.image" -}}
{{- $image := .root.Values.image -}}
{{ printf "%s/%s:%s" $image.registry .service (default .root.Chart.AppVersion $image.tag) | quote }}
{{- end -}}

{{- define "runyard.keysSecret" -}}
{{ default (printf "%s-keys" (include "runyard.fullname" .)) .Values.keys.existingSecret }}
{{- end -}}

{{/* The names of the keys that the chart makes, and those of URIs and passwords that values say as text. */}}
{{- define "runyard.keyNames" -}}
names: [INTERNAL_TOKEN, DATA_PLANE_KEY, CONTROL_PLANE_ENCRYPTION_KEY, ORG_ACCESS_ENCRYPTION_KEY, OAUTH_BROKER_ENCRYPTION_KEY, DATA_PLANE_ENCRYPTION_KEY]
{{- end -}}
{{- define "runyard.texts" -}}
{{- $v := .Values -}}
{{- $texts := dict
  "POSTGRES_CONTROL_PLANE" $v.postgres.controlPlane.uri "POSTGRES_ORG_ACCESS" $v.postgres.orgAccess.uri
  "POSTGRES_OAUTH_BROKER" $v.postgres.oauthBroker.uri "POSTGRES_REGISTRY" $v.postgres.registry.uri
  "POSTGRES_RUN_HISTORY" $v.postgres.runHistory.uri "POSTGRES_DEPLOYMENTS" $v.postgres.deployments.uri
  "REDIS_PLATFORM" $v.redis.platform.uri "REDIS_DEPLOYMENTS" $v.redis.deployments.uri
  "REDIS_BUILDS" $v.redis.builds.uri "REDIS_HISTORY" $v.redis.history.uri
  "REDIS_EVENT_BUS" $v.eventBus.redis.uri
  "KAFKA_PASSWORD" $v.kafka.password.value "KAFKA_DEPLOYMENTS_PASSWORD" $v.kafka.deploymentsPassword.value
  "KAFKA_CA" $v.kafka.ca.value "S3_ACCESS_KEY_ID" $v.storage.s3.accessKeyId.value
  "S3_SECRET_ACCESS_KEY" $v.storage.s3.secretAccessKey.value
  "BASE_IMAGE_PASSWORD" $v.deployments.baseImagePassword.value -}}
{{- range $name, $text := $texts }}{{ if $text }}
{{ $name }}: {{ $text | b64enc }}
{{- end }}{{ end -}}
{{- end -}}

{{/* A variable of a Secret: that of `from`, or the chart's own where `from` has the text itself. */}}
{{- define "runyard.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ default (printf "%s-connections" (include "runyard.fullname" .root)) .from.secretName }}
      key: {{ default .text .from.key }}
{{- end -}}
{{- define "runyard.keyVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "runyard.keysSecret" .root }}
      key: {{ default .name .key }}
{{- end -}}
{{- define "runyard.variable" -}}
- name: {{ .name }}
  value: {{ .value | toString | quote }}
{{- end -}}

{{- define "runyard.url" -}}
{{ printf "http://%s-%s.%s.svc:8000" (include "runyard.fullname" .root) .service .root.Release.Namespace }}
{{- end -}}

{{- define "runyard.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}
{{- define "runyard.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Root that starts processes as other users, gives them folders, ends them, and removes what they left; no more. */}}
{{- define "runyard.rootPodSecurity" -}}
runAsUser: 0
runAsGroup: 0
seccompProfile: { type: RuntimeDefault }
{{- end -}}
{{- define "runyard.rootContainerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL], add: [CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID] }
{{- end -}}
