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

{{- /* The labels of the gateway's pods. Pods of tests do not have them. */ -}}
{{- define "engine-gateway.podSelectorLabels" -}}
{{ include "engine-gateway.selectorLabels" . }}
app.kubernetes.io/component: gateway
{{- end -}}

{{- define "engine-gateway.labels" -}}
{{ include "engine-gateway.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* Labels and annotations of an object. Takes `root`, and `labels` and `annotations` of the object, which have precedence. */ -}}
{{- define "engine-gateway.metadata" -}}
labels:
  {{- include "engine-gateway.labels" .root | nindent 2 }}
  {{- with merge (dict) (default (dict) .labels) .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (default (dict) .annotations) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "engine-gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "engine-gateway.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "engine-gateway.image" -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository is not set: build and push an image with release/build-image, or use a chart that release/package-chart has made (docs/releases.md). Then set image.repository, and image.digest or image.tag" -}}
{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The configuration with the settings that depend on the pod: the listeners, the mounted files, and Redis. */ -}}
{{- define "engine-gateway.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $engines := dict -}}
{{- range $name, $engine := $config.engines -}}
{{- if $engine -}}
{{- $_ := set $engines $name $engine -}}
{{- end -}}
{{- end -}}
{{- if not (or $engines .Values.existingConfigMap) -}}
{{- fail "config.engines is empty: add your engines, for example --set 'config.engines.default.nodes={http://engine:8080/engine-rest}'" -}}
{{- end -}}
{{- $_ := set $config "engines" $engines -}}
{{- $_ := set $config "listen" (merge (dict "host" "0.0.0.0" "port" .Values.containerPorts.http) (default (dict) $config.listen)) -}}
{{- $admin := default (dict) $config.admin -}}
{{- $service := printf "%s-admin" (include "engine-gateway.fullname" .) -}}
{{- $inside := printf "%s.%s" $service .Release.Namespace -}}
{{- $names := list $service $inside (printf "%s.svc" $inside) (printf "%s.svc.cluster.local" $inside) -}}
{{- $_ := set $admin "hosts" (concat $names (default (list) $admin.hosts)) -}}
{{- if .Values.adminToken.existingSecret -}}
{{- $_ := set $admin "token" "${ADMIN_TOKEN}" -}}
{{- if .Values.adminToken.readKey -}}
{{- $reader := dict "name" "service-monitor" "token" "${ADMIN_READ_TOKEN}" "right" "read" -}}
{{- $_ := set $admin "tokens" (prepend (default (list) $admin.tokens) $reader) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $config "admin" (merge (dict "host" "0.0.0.0" "port" .Values.containerPorts.admin) $admin) -}}
{{- if has (dig "identity" "source" "" $config) (list "file" "htpasswd") -}}
{{- $_ := set $config.identity "file" "users.yaml" -}}
{{- end -}}
{{- range $engine := $config.engines -}}
{{- if has (dig "identity" "source" "" $engine) (list "file" "htpasswd") -}}
{{- $_ := set $engine.identity "file" (default "users.yaml" $engine.identity.file) -}}
{{- end -}}
{{- if eq (dig "authorization" "records" "source" "" $engine) "file" -}}
{{- $_ := set $engine.authorization.records "file" (default "authorizations.yaml" $engine.authorization.records.file) -}}
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

{{- /* Not empty if all engines, or one of them, read users.yaml. The chart does not know this for an existing config map. */ -}}
{{- define "engine-gateway.readsUsers" -}}
{{- $config := include "engine-gateway.config" . | fromYaml -}}
{{- range $settings := prepend (values $config.engines) $config -}}
{{- if eq (dig "identity" "file" "" $settings) "users.yaml" -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{- /* users.yaml, if an engine reads it. */ -}}
{{- define "engine-gateway.usersFile" -}}
{{- $isGiven := or .Values.users.existingSecret .Values.users.existingConfigMap -}}
{{- if .Values.existingConfigMap -}}
{{- include "engine-gateway.file" (dict "source" .Values.users "path" "users.yaml") -}}
{{- else if include "engine-gateway.readsUsers" . -}}
{{- if not $isGiven -}}
{{- fail "identity.source is file or htpasswd: set users.existingSecret or users.existingConfigMap to the name of the object that contains users.yaml" -}}
{{- end -}}
{{- include "engine-gateway.file" (dict "source" .Values.users "path" "users.yaml") -}}
{{- end -}}
{{- end -}}

{{- /* One file in the folder of the configuration, from a secret or a config map. */ -}}
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

{{- /* The minimum number of pods. */ -}}
{{- define "engine-gateway.leastReplicas" -}}
{{- ternary .Values.autoscaling.minReplicas .Values.replicaCount .Values.autoscaling.enabled -}}
{{- end -}}

{{- /* `timeouts.drain` in seconds, rounded up. The default is used if the chart cannot know the value. */ -}}
{{- define "engine-gateway.drainSeconds" -}}
{{- $drain := ternary "" (dig "timeouts" "drain" "" .Values.config | toString) (ne .Values.existingConfigMap "") -}}
{{- if regexMatch "^[0-9]+(ms|s|m|h)$" $drain -}}
{{- $unit := regexFind "[a-z]+$" $drain -}}
{{- $ms := mul (atoi (trimSuffix $unit $drain)) (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) $unit) -}}
{{- div (add $ms 999) 1000 -}}
{{- else -}}
20
{{- end -}}
{{- end -}}

{{- /* The time from the start of a pod's termination until the pod is killed. */ -}}
{{- define "engine-gateway.gracePeriodSeconds" -}}
{{- /* 5 seconds: the primary waits longer than the drain of its workers, and the process needs time for its exit. */ -}}
{{- $least := add .Values.preStopSleepSeconds (include "engine-gateway.drainSeconds" . | atoi) 5 -}}
{{- $given := .Values.terminationGracePeriodSeconds | int64 -}}
{{- if eq $given 0 -}}
{{- add $least 10 -}}
{{- else if lt $given $least -}}
{{- fail (printf "terminationGracePeriodSeconds (%d) is too short for preStopSleepSeconds and timeouts.drain: set at least %d, or 0 for a value that fits" $given $least) -}}
{{- else -}}
{{- $given -}}
{{- end -}}
{{- end -}}

{{- /*
NODE_OPTIONS with the heap limit of each process: half of the memory limit of the container, divided by the workers that share it. Empty if the
container has no memory limit, because the limit would then depend on the node, or if extraEnv sets the variable.
*/ -}}
{{- define "engine-gateway.nodeOptions" -}}
{{- $isGiven := false -}}
{{- range .Values.extraEnv -}}
{{- if eq .name "NODE_OPTIONS" -}}{{- $isGiven = true -}}{{- end -}}
{{- end -}}
{{- if and (dig "limits" "memory" "" .Values.resources) (not $isGiven) -}}
{{- $given := toString (default 1 .Values.config.workers) -}}
{{- if contains "$" $given -}}
{{- fail "config.workers is a variable: set NODE_OPTIONS in extraEnv to the heap limit of each process, for example --max-old-space-size=256" -}}
{{- end -}}
{{- $workers := max 1 (int $given) -}}
--max-old-space-size-percentage={{ divf 50 $workers | floor | max 1 }}
{{- end -}}
{{- end -}}

{{- /*
The command of a container with a limit of at most one core: that of the image, with a flag of V8 (docs/capacity.md). Empty with another limit, or without
one.
*/ -}}
{{- define "engine-gateway.command" -}}
{{- $cpu := toString (dig "limits" "cpu" "" .Values.resources) -}}
{{- $cores := hasSuffix "m" $cpu | ternary (divf (trimSuffix "m" $cpu) 1000) (float64 $cpu) -}}
{{- if and (gt $cores 0.0) (le $cores 1.0) -}}
{{- $flags := list "--max-semi-space-size=8" "--no-allocation-site-pretenuring" "--no-separate-gc-phases" "--heap-growing-percent=150" -}}
{{- concat (list "node") $flags (list "--single-threaded-gc") (list "dist/main.js" "--config" "/etc/engine-gateway/gateway.yaml") | toJson -}}
{{- end -}}
{{- end -}}

{{- /* The port of a URL. Fails if the URL is a variable. Takes `url`, and `instead`: the value that must be set in this case. */ -}}
{{- define "engine-gateway.portOf" -}}
{{- $url := toString .url -}}
{{- if contains "${" $url -}}
{{- fail (printf "a URL is a variable, so the chart does not know its port: set %s" .instead) -}}
{{- end -}}
{{- $port := regexFind ":[0-9]+$" (urlParse $url).host | trimPrefix ":" -}}
{{- default (ternary "443" "80" (hasPrefix "https:" (lower $url))) $port -}}
{{- end -}}

{{- /* The ports of all engines and of the applications of `passthrough`, as `{ ports: […] }`. */ -}}
{{- define "engine-gateway.enginePorts" -}}
{{- $instead := "networkPolicy.egress.engines.ports" -}}
{{- if .Values.existingConfigMap -}}
{{- fail (printf "the chart does not know the content of existingConfigMap: set %s" $instead) -}}
{{- end -}}
{{- $urls := list -}}
{{- $nodes := list -}}
{{- range $engine := .Values.config.engines -}}
{{- $nodes = concat $nodes (default (list) (default (dict) $engine).nodes) -}}
{{- end -}}
{{- range .Values.config.passthrough -}}
{{- $nodes = concat $nodes (default (list) .nodes) (list .upstream | compact) -}}
{{- end -}}
{{- range $node := $nodes -}}
{{- $urls = append $urls (kindIs "map" $node | ternary (dig "url" "" (kindIs "map" $node | ternary $node (dict))) $node) -}}
{{- end -}}
{{- $ports := list -}}
{{- range $urls -}}
{{- $ports = append $ports (include "engine-gateway.portOf" (dict "url" . "instead" $instead) | int) -}}
{{- end -}}
{{- toJson (dict "ports" ($ports | uniq)) -}}
{{- end -}}

{{- /* The ports of Redis, as `{ ports: […] }`. The list is empty if there is no Redis. */ -}}
{{- define "engine-gateway.redisPorts" -}}
{{- $redis := ternary nil (dig "cache" "redis" nil .Values.config) (ne .Values.existingConfigMap "") -}}
{{- $ports := list -}}
{{- if .Values.redis.existingSecret -}}
{{- $ports = list 6379 -}}
{{- else if kindIs "map" $redis -}}
{{- if $redis.sentinel -}}
{{- /* The port of the servers that the sentinels announce. The chart does not know it. */ -}}
{{- $ports = list 6379 -}}
{{- end -}}
{{- range dig "sentinel" "nodes" list $redis -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default "26379" | int) -}}
{{- end -}}
{{- range concat (dig "cluster" "nodes" list $redis) (list (dig "url" "" $redis) | compact) -}}
{{- $ports = append $ports (regexFind ":[0-9]+(/|$)" . | trimAll ":/" | default "6379" | int) -}}
{{- end -}}
{{- else if $redis -}}
{{- $ports = list (regexFind ":[0-9]+$" (urlParse $redis).host | trimPrefix ":" | default "6379" | int) -}}
{{- end -}}
{{- toJson (dict "ports" ($ports | uniq)) -}}
{{- end -}}

{{- /* A rule of a network policy. Takes `to`, `ports` and `protocols`. */ -}}
{{- define "engine-gateway.egressRule" -}}
- ports:
    {{- range $port := .ports }}
    {{- range $.protocols }}
    - { port: {{ $port }}, protocol: {{ . }} }
    {{- end }}
    {{- end }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /* The scheme of requests to the gateway. */ -}}
{{- define "engine-gateway.scheme" -}}
{{- if dig "listen" "tls" nil .Values.config }}https{{ else }}http{{ end -}}
{{- end -}}

{{- /* The scheme of probes: `HTTPS` if the admin listener has a certificate. */ -}}
{{- define "engine-gateway.adminScheme" -}}
{{- if dig "admin" "tls" nil .Values.config }}HTTPS{{ else }}HTTP{{ end -}}
{{- end -}}

{{- /* The groups of files/alerts.yaml with the changes of `prometheusRule`. Fails if a change names an alert that does not exist. */ -}}
{{- define "engine-gateway.alertGroups" -}}
{{- $changes := .Values.prometheusRule.alerts -}}
{{- $base := trimSuffix "/" .Values.prometheusRule.runbookBaseUrl -}}
{{- $file := .Files.Get "files/alerts.yaml" | replace "https://runbooks.example/engine-gateway" $base | fromYaml -}}
{{- $names := list -}}
{{- range $group := $file.groups -}}
{{- $rules := list -}}
{{- range $rule := $group.rules -}}
{{- $names = append $names $rule.alert -}}
{{- $change := default (dict) (get $changes $rule.alert) -}}
{{- if dig "enabled" true $change -}}
{{- $rules = append $rules (mergeOverwrite $rule (omit $change "enabled")) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $group "rules" $rules -}}
{{- end -}}
{{- range $name := keys $changes | sortAlpha -}}
{{- if not (has $name $names) -}}
{{- fail (printf "prometheusRule.alerts.%s: there is no such alert; the alerts are %s" $name (join ", " $names)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $file.groups -}}
{{- end -}}

{{- /*
The objects that pods need before they start, as `{ objects: [{ kind, name, keys, use }] }`. An object without keys is mounted or read
as a whole.
*/ -}}
{{- define "engine-gateway.required" -}}
{{- $objects := list -}}
{{- with .Values.existingConfigMap -}}
{{- $objects = append $objects (dict "kind" "configmap" "name" . "keys" (list "gateway.yaml") "use" "the configuration") -}}
{{- end -}}
{{- $sources := list (dict "from" .Values.authorizations "use" "the authorization records") (dict "from" .Values.trustedCertificates "use" "trusted certificates") -}}
{{- if include "engine-gateway.usersFile" . -}}
{{- $sources = prepend $sources (dict "from" .Values.users "use" "the users") -}}
{{- end -}}
{{- range $sources -}}
{{- $keys := list .from.key -}}
{{- if .from.existingSecret -}}
{{- $objects = append $objects (dict "kind" "secret" "name" .from.existingSecret "keys" $keys "use" .use) -}}
{{- else if .from.existingConfigMap -}}
{{- $objects = append $objects (dict "kind" "configmap" "name" .from.existingConfigMap "keys" $keys "use" .use) -}}
{{- end -}}
{{- end -}}
{{- with .Values.redis -}}
{{- if .existingSecret -}}
{{- $objects = append $objects (dict "kind" "secret" "name" .existingSecret "keys" (compact (list .key .signingKey)) "use" "Redis") -}}
{{- end -}}
{{- end -}}
{{- with .Values.adminToken -}}
{{- if .existingSecret -}}
{{- $objects = append $objects (dict "kind" "secret" "name" .existingSecret "keys" (compact (list .key .readKey)) "use" "the token of the admin port") -}}
{{- end -}}
{{- end -}}
{{- $config := toYaml .Values.config -}}
{{- range $secret := .Values.secretFiles -}}
{{- $keys := list -}}
{{- $folder := printf "/run/secrets/%s/" $secret -}}
{{- range regexFindAll (printf "%s[A-Za-z0-9._-]+" (replace "." "[.]" $folder)) $config -1 -}}
{{- $keys = append $keys (trimPrefix $folder .) -}}
{{- end -}}
{{- $objects = append $objects (dict "kind" "secret" "name" $secret "keys" (uniq $keys) "use" (printf "files in /run/secrets/%s" $secret)) -}}
{{- end -}}
{{- range .Values.extraEnv -}}
{{- $use := printf "the variable %s" .name -}}
{{- $valueFrom := default (dict) .valueFrom -}}
{{- with $valueFrom.secretKeyRef -}}
{{- $objects = append $objects (dict "kind" "secret" "name" .name "keys" (list .key) "use" $use) -}}
{{- end -}}
{{- with $valueFrom.configMapKeyRef -}}
{{- $objects = append $objects (dict "kind" "configmap" "name" .name "keys" (list .key) "use" $use) -}}
{{- end -}}
{{- end -}}
{{- range .Values.extraVolumes -}}
{{- $use := printf "the volume %s" .name -}}
{{- with .secret -}}
{{- $objects = append $objects (dict "kind" "secret" "name" .secretName "keys" list "use" $use) -}}
{{- end -}}
{{- with .configMap -}}
{{- $objects = append $objects (dict "kind" "configmap" "name" .name "keys" list "use" $use) -}}
{{- end -}}
{{- end -}}
{{- range .Values.imagePullSecrets -}}
{{- $objects = append $objects (dict "kind" "secret" "name" .name "keys" list "use" "the registry of the image") -}}
{{- end -}}
{{- with .Values.ingress -}}
{{- if .enabled -}}
{{- $names := list .tlsSecret -}}
{{- range .tls -}}
{{- $names = append $names .secretName -}}
{{- end -}}
{{- range $names | compact | uniq -}}
{{- $objects = append $objects (dict "kind" "secret" "name" . "keys" (list "tls.crt" "tls.key") "use" "the certificate of the ingress") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "objects" $objects) -}}
{{- end -}}
