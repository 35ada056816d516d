{{- define "engine-gateway.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "engine-gateway.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "engine-gateway.labels" -}}
{{ include "engine-gateway.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "engine-gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "engine-gateway.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "engine-gateway.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The configuration with what must fit the pod: where it listens, where its files are mounted, its Redis. */ -}}
{{- define "engine-gateway.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $_ := set $config "listen" (merge (dict "host" "0.0.0.0" "port" .Values.containerPorts.http) (default (dict) $config.listen)) -}}
{{- $admin := default (dict) $config.admin -}}
{{- $service := printf "%s-admin" (include "engine-gateway.fullname" .) -}}
{{- $inside := printf "%s.%s" $service .Release.Namespace -}}
{{- $names := list $service $inside (printf "%s.svc" $inside) (printf "%s.svc.cluster.local" $inside) -}}
{{- $_ := set $admin "hosts" (concat $names (default (list) $admin.hosts)) -}}
{{- if .Values.adminToken.existingSecret -}}
{{- $_ := set $admin "token" "${ADMIN_TOKEN}" -}}
{{- end -}}
{{- $_ := set $config "admin" (merge (dict "host" "0.0.0.0" "port" .Values.containerPorts.admin) $admin) -}}
{{- if eq (dig "identity" "source" "" $config) "file" -}}
{{- $_ := set $config.identity "file" "users.yaml" -}}
{{- end -}}
{{- range $engine := $config.engines -}}
{{- if and $engine (eq (dig "identity" "source" "" $engine) "file") -}}
{{- $_ := set $engine.identity "file" (default "users.yaml" $engine.identity.file) -}}
{{- end -}}
{{- end -}}
{{- if eq (dig "authorization" "records" "source" "" $config) "file" -}}
{{- $_ := set $config.authorization.records "file" "authorizations.yaml" -}}
{{- end -}}
{{- if .Values.redis.existingSecret -}}
{{- $_ := set $config "cache" (merge (dict "redis" "${REDIS_URL}") (default (dict) $config.cache)) -}}
{{- if and .Values.redis.signingKey (not $config.cache.signingKeys) -}}
{{- $_ := set $config.cache "signingKeys" (list "${REDIS_SIGNING_KEY}") -}}
{{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- /* Not empty where users.yaml is read, by all engines or by one. Of a config map of yours the chart does not know it. */ -}}
{{- define "engine-gateway.readsUsers" -}}
{{- $config := include "engine-gateway.config" . | fromYaml -}}
{{- range $settings := prepend (values $config.engines) $config -}}
{{- if eq (dig "identity" "file" "" (default (dict) $settings)) "users.yaml" -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{- /* users.yaml, where it is read. */ -}}
{{- define "engine-gateway.usersFile" -}}
{{- $isGiven := or .Values.users.existingSecret .Values.users.existingConfigMap -}}
{{- if .Values.existingConfigMap -}}
{{- include "engine-gateway.file" (dict "source" .Values.users "path" "users.yaml") -}}
{{- else if include "engine-gateway.readsUsers" . -}}
{{- if not $isGiven -}}
{{- fail "identity.source is file: set users.existingSecret (or users.existingConfigMap) to what holds users.yaml" -}}
{{- end -}}
{{- include "engine-gateway.file" (dict "source" .Values.users "path" "users.yaml") -}}
{{- end -}}
{{- end -}}

{{- /* One file of the configuration's folder, out of a secret or a config map. */ -}}
{{- define "engine-gateway.file" -}}
{{- if .source.existingSecret }}
- secret:
    name: {{ .source.existingSecret }}
    items: [{ key: {{ .source.key }}, path: {{ .path }} }]
{{- else if .source.existingConfigMap }}
- configMap:
    name: {{ .source.existingConfigMap }}
    items: [{ key: {{ .source.key }}, path: {{ .path }} }]
{{- end }}
{{- end -}}
