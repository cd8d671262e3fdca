{{/* The variables of one service: those of its config.ts, and no other service's secrets. */}}
{{- define "runyard.variables" -}}
{{- $v := .root.Values -}}{{- $root := .root -}}{{- $name := .name -}}{{- $service := .service -}}
{{- $own := index $v.services $service.values -}}
{{- $plain := dict "LOG_JSON" "true" "HOST" "0.0.0.0" "PORT" "8000" "HOME" "/tmp" -}}
{{- if has "eventBus" $service.calls -}}
  {{- $_ := set $plain "EVENT_BUS" $v.eventBus.kind -}}
  {{- with $v.eventBus.topicPrefix }}{{ $_ := set $plain "TOPIC_PREFIX" . }}{{ end -}}
  {{- if eq $v.eventBus.kind "kafka" -}}
    {{- $_ := set $plain "KAFKA_BROKERS" $v.kafka.brokers -}}
    {{- if $v.kafka.tls }}{{ $_ := set $plain "KAFKA_SSL" "true" }}{{ end -}}
    {{- if $v.kafka.username -}}
      {{- $_ := set $plain "KAFKA_SASL_MECHANISM" $v.kafka.mechanism -}}
      {{- if ne $name "data-plane" }}{{ $_ := set $plain "KAFKA_SASL_USERNAME" $v.kafka.username }}{{ end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if $service.database }}{{ $_ := set $plain "DATABASE_PREPARED_STATEMENTS" $v.postgres.preparedStatements }}{{ end -}}
{{- $urls := dict "gateway" (list "org-access" "control-plane" "oauth-broker" "registry" "run-history")
  "org-access" (list "control-plane") "control-plane" (list "org-access" "registry") "registry" (list "control-plane")
  "oauth-broker" (list "org-access" "control-plane") "run-history" (list "org-access" "control-plane")
  "data-plane" (list "control-plane") "builder" (list "control-plane" "registry") "console" (list "gateway" "org-access") -}}
{{- $called := index $urls $name -}}
{{- if and (eq $name "gateway") $v.consoleUrl }}{{ $called = append $called "console" }}{{ end -}}
{{- range $called -}}
  {{- $variable := printf "%s%s" (. | upper | replace "-" "_") (ternary "_SERVICE_URL" "_URL" (has . (list "registry" "console"))) -}}
  {{- $_ := set $plain $variable (include "runyard.url" (dict "root" $root "service" .)) -}}
{{- end -}}
{{- if not (has $name (list "builder" "run-history")) }}{{ $_ := set $plain "PUBLIC_URL" $v.publicUrl }}{{ end -}}
{{- if has $name (list "gateway" "org-access" "console") }}{{ with $v.consoleUrl }}{{ $_ := set $plain "CONSOLE_URL" . }}{{ end }}{{ end -}}
{{- if has $name (list "gateway" "control-plane") }}{{ with $v.deploymentsDomain }}{{ $_ := set $plain "DEPLOYMENTS_DOMAIN" . }}{{ end }}{{ end -}}
{{- if has $name (list "control-plane" "registry" "data-plane" "builder") }}{{ $_ := set $plain "DATA_DIR" "/data" }}{{ end -}}
{{- if has $name (list "control-plane" "registry") -}}
  {{- with $v.registryUrl }}{{ $_ := set $plain "REGISTRY_URL" . }}{{ end -}}
  {{- if $v.storage.s3.bucket -}}
    {{- $_ := set $plain "S3_BUCKET" $v.storage.s3.bucket -}}{{- $_ := set $plain "S3_REGION" $v.storage.s3.region -}}
    {{- with $v.storage.s3.endpoint }}{{ $_ := set $plain "S3_ENDPOINT" . }}{{ end -}}
    {{- with $v.storage.s3.prefix }}{{ $_ := set $plain "S3_PREFIX" . }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- /* Within the grace of its pod, less the pause before its stop and DRAIN_WINDOW_SECONDS. */ -}}
{{- if eq $name "gateway" }}{{ $_ := set $plain "DRAIN_SECONDS" "45" }}{{ end -}}
{{- if eq $name "gateway" }}{{ with $v.trustedProxies }}{{ $_ := set $plain "TRUSTED_PROXIES" (join "," .) }}{{ end }}{{ end -}}
{{- if has $name (list "control-plane" "data-plane") -}}
  {{- $_ := set $plain "DRIVER" "kubernetes" -}}
  {{- with $v.deployments.podMetadata }}{{ $_ := set $plain "KUBERNETES_POD_METADATA" (join "," .) }}{{ end -}}
  {{- with $v.deployments.pullSecrets }}{{ $_ := set $plain "KUBERNETES_PULL_SECRETS" (join "," .) }}{{ end -}}
{{- end -}}
{{- if eq $name "control-plane" -}}
  {{- with $v.customDomains }}{{ $_ := set $plain "CUSTOM_DOMAINS" (join "," .) }}{{ end -}}
{{- end -}}
{{- if has $name (list "control-plane" "registry") -}}
  {{- with $v.deployments.baseImage }}{{ $_ := set $plain "PROJECT_BASE_IMAGE" . }}{{ end -}}
{{- end -}}
{{- if eq $name "registry" -}}
  {{- with $v.deployments.baseImageUsername }}{{ $_ := set $plain "PROJECT_BASE_IMAGE_USERNAME" . }}{{ end -}}
{{- end -}}
{{- if eq $name "data-plane" -}}
  {{- $_ := set $plain "KUBERNETES_NAMESPACE" $v.deployments.namespace -}}
  {{- $_ := set $plain "KUBERNETES_AUTOSCALER" $v.deployments.autoscaler -}}
  {{- $_ := set $plain "DATA_POSTGRES_PREPARED_STATEMENTS" $v.postgres.preparedStatements -}}
  {{- $_ := set $plain "DATA_REDIS_USERS" $v.redis.deploymentUsers -}}
  {{- $_ := set $plain "PLATFORM_JWKS_URL" (printf "%s/.well-known/jwks.json" (include "runyard.url" (dict "root" $root "service" "org-access"))) -}}
  {{- with $v.kafka.deploymentsUsername }}{{ $_ := set $plain "DEPLOYMENT_KAFKA_SASL_USERNAME" . }}{{ end -}}
{{- end -}}
{{- if and $service.users (not $own.restricted) -}}
  {{- $_ := set $plain "PROJECT_USERS" "100000-999999999" -}}
  {{- /* Its users write to /tmp, where npm would read their settings as its own. */ -}}
  {{- $_ := set $plain "HOME" "/root" -}}
{{- end -}}
{{- $plain = merge (dict) $own.env $plain -}}
{{- range $key, $value := $plain }}
{{ include "runyard.variable" (dict "name" $key "value" $value) }}
{{- end }}
{{- if $service.internal }}
{{ include "runyard.keyVariable" (dict "root" $root "name" "INTERNAL_TOKEN") }}
{{- end }}
{{- if $service.encryption }}
{{ include "runyard.keyVariable" (dict "root" $root "name" "ENCRYPTION_KEY" "key" (printf "%s_ENCRYPTION_KEY" ($name | upper | replace "-" "_"))) }}
{{- end }}
{{- if has $name (list "control-plane" "data-plane") }}
{{ include "runyard.keyVariable" (dict "root" $root "name" "DATA_PLANE_KEY") }}
{{- end }}
{{- with $service.database }}
{{ include "runyard.databaseVariable" (dict "root" $root "name" $name "database" .) }}
{{- end }}
{{- $secrets := list -}}
{{- if eq $name "builder" }}{{ $secrets = append $secrets (dict "name" "REDIS_URI" "from" $v.redis.builds "text" "REDIS_BUILDS") }}{{ end -}}
{{- if and (has "redis" $service.calls) (not (has $name (list "data-plane" "builder" "run-history"))) }}{{ $secrets = append $secrets (dict "name" "REDIS_URI" "from" $v.redis.platform "text" "REDIS_PLATFORM") }}{{ end -}}
{{- if and (eq $name "run-history") (eq $v.eventBus.kind "redis") }}{{ $secrets = append $secrets (dict "name" "DEPLOYMENTS_REDIS_URI" "from" $v.redis.history "text" "REDIS_HISTORY") }}{{ end -}}
{{- if eq $name "data-plane" -}}
  {{- $secrets = append $secrets (dict "name" "DATA_POSTGRES_URI" "from" $v.postgres.deployments "text" "POSTGRES_DEPLOYMENTS") -}}
  {{- $secrets = append $secrets (dict "name" "DATA_REDIS_URI" "from" $v.redis.deployments "text" "REDIS_DEPLOYMENTS") -}}
  {{- if $v.kafka.deploymentsUsername }}{{ $secrets = append $secrets (dict "name" "DEPLOYMENT_KAFKA_SASL_PASSWORD" "from" $v.kafka.deploymentsPassword "text" "KAFKA_DEPLOYMENTS_PASSWORD") }}{{ end -}}
{{- end -}}
{{- if has "eventBus" $service.calls -}}
  {{- if eq $v.eventBus.kind "redis" }}{{ $secrets = append $secrets (dict "name" "EVENT_BUS_REDIS_URI" "from" $v.eventBus.redis "text" "REDIS_EVENT_BUS") }}{{ end -}}
  {{- if and (eq $v.eventBus.kind "kafka") $v.kafka.username (ne $name "data-plane") }}{{ $secrets = append $secrets (dict "name" "KAFKA_SASL_PASSWORD" "from" $v.kafka.password "text" "KAFKA_PASSWORD") }}{{ end -}}
  {{- if and (eq $v.eventBus.kind "kafka") $v.kafka.tls $v.kafka.ca }}{{ $secrets = append $secrets (dict "name" "KAFKA_SSL_CA" "from" $v.kafka.ca "text" "KAFKA_CA") }}{{ end -}}
{{- end -}}
{{- if and (has $name (list "control-plane" "registry")) $v.storage.s3.bucket -}}
  {{- $secrets = append $secrets (dict "name" "S3_ACCESS_KEY_ID" "from" $v.storage.s3.accessKeyId "text" "S3_ACCESS_KEY_ID") -}}
  {{- $secrets = append $secrets (dict "name" "S3_SECRET_ACCESS_KEY" "from" $v.storage.s3.secretAccessKey "text" "S3_SECRET_ACCESS_KEY") -}}
{{- end -}}
{{- if and (eq $name "registry") $v.deployments.baseImagePassword }}{{ $secrets = append $secrets (dict "name" "PROJECT_BASE_IMAGE_PASSWORD" "from" $v.deployments.baseImagePassword "text" "BASE_IMAGE_PASSWORD") }}{{ end -}}
{{- range $key, $from := $own.secretEnv }}{{ $secrets = append $secrets (dict "name" $key "from" $from "text" "") }}{{ end -}}
{{- range $secrets }}
{{ include "runyard.secretVariable" (merge (dict "root" $root) .) }}
{{- end }}
{{- end -}}

{{- define "runyard.databaseVariable" -}}
{{- $from := index .root.Values.postgres .database -}}
{{ include "runyard.secretVariable" (dict "root" .root "name" "DATABASE_URI" "from" $from "text" (printf "POSTGRES_%s" (.name | upper | replace "-" "_"))) }}
{{- end -}}
