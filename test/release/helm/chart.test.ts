import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { loadConfig } from '../../../src/config/config.ts'
import {
  at,
  CHART as chart,
  configFolderOf,
  find,
  helm,
  listAt,
  type Json,
  LEAST_VALUES,
  podOf,
  render,
  renderAt,
} from './render.ts'
import { helmSkip } from '../../support/requirements.ts'

const skip = helmSkip

function checksumOf(...sets: readonly string[]): unknown {
  return at(podOf(render(...sets)), 'metadata.annotations.checksum/config')
}

function sourcesOf(...sets: readonly string[]): unknown {
  return at(podOf(render(...sets)), 'spec.volumes.0.projected.sources')
}

/** Returns the notes of an installation. Helm shows them only with a cluster, so a copy of the chart renders them as a template. */
function notesOf(t: Test, ...sets: readonly string[]): string {
  const copy = t.testdir()
  cpSync(chart, copy, { recursive: true })
  cpSync(join(chart, 'templates/NOTES.txt'), join(copy, 'notes.txt'))
  writeFileSync(join(copy, 'templates/notes.yaml'), 'notes: {{ tpl (.Files.Get "notes.txt") . | toJson }}\n')
  return String(renderAt(copy, sets).find((one) => 'notes' in one)?.['notes'])
}

function isUsersMounted(...sets: readonly string[]): boolean {
  return JSON.stringify(sourcesOf(...sets)).includes('engine-gateway-users')
}

/** Returns the rendered gateway.yaml as the gateway reads it. */
function configOf(t: Test, objects: readonly Json[], env: NodeJS.ProcessEnv = {}) {
  return loadConfig(join(configFolderOf(t, objects), 'gateway.yaml'), env)
}

void t.test('a mistake in the configuration is refused before the chart is rendered', { skip }, (t) => {
  for (const [set, message] of [
    ['config.cahce.memory.maxBytes=1MiB', /\/config'.*cahce/],
    ['config.limits.body=2MB', /\/config\/limits\/body/],
    ['config.engines.default.nodes=http://engine', /\/config\/engines\/default\/nodes'/],
    ['config.authorization.mode=enforced', /\/config\/authorization\/mode'/],
    ['config.listen.prot=80', /\/config\/listen'.*prot/],
    ['config.version=2', /\/config\/version'/],
  ] as const)
    t.throws(() => render(set), { message }, set)
  t.end()
})

t.test('a pod has enough time to start with little CPU, and to drain', { skip }, (t) => {
  const pod = podOf(render())
  const probe = at(pod, 'spec.containers.0.startupProbe')
  t.ok(Number(at(probe, 'periodSeconds')) * Number(at(probe, 'failureThreshold')) >= 300)
  const preStop = Number(at(pod, 'spec.containers.0.lifecycle.preStop.exec.command.1'))
  const drainSeconds = loadConfig(join(chart, '../../config/gateway.yaml')).timeouts.drain / 1000
  // The time that a primary waits after the drain of its workers, and main.ts for the exit.
  t.ok(Number(at(pod, 'spec.terminationGracePeriodSeconds')) >= preStop + drainSeconds + 3)
  t.end()
})

t.test('the rendered chart', { skip }, async (t) => {
  await t.test('the chart passes lint without a warning', async (t) => {
    t.doesNotThrow(() => helm('lint', '--strict', chart, '--values', LEAST_VALUES))
  })

  await t.test(
    'the chart renders a valid configuration that listens on the ports of the container',
    async (t) => {
      const objects = render(
        'containerPorts.http=8081',
        'config.engines.orders.nodes={http://orders:8080/engine-rest}',
      )
      const config = configOf(t, objects)
      t.match(config, { listen: { host: '0.0.0.0', port: 8081 }, admin: { host: '0.0.0.0', port: 9090 } })
      const origins = ['https://app.example']
      const open = configOf(
        t,
        render(`config.listen.allowedOrigins={${origins.join(',')}}`, 'config.listen.port=1'),
      )
      t.match(open.listen, { host: '0.0.0.0', port: 8080, allowedOrigins: origins })
      t.same(Object.keys(config.engines), ['default', 'orders'])
      const ports = at(podOf(objects), 'spec.containers.0.ports')
      t.match(ports, [
        { name: 'http', containerPort: 8081 },
        { name: 'admin', containerPort: 9090 },
      ])
    },
  )

  await t.test('the pod runs without root, privileges, a token or a writable disk', async (t) => {
    const pod = podOf(render())
    t.match(at(pod, 'spec'), {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    t.match(at(pod, 'spec.containers.0.securityContext'), {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  await t.test('the admin port is probed and is not in the service for requests', async (t) => {
    const objects = render()
    t.match(at(find(objects, 'Service'), 'spec.ports'), [{ targetPort: 'http' }])
    t.match(at(find(objects, 'Service', 'gw-engine-gateway-admin'), 'spec.ports'), [{ targetPort: 'admin' }])
    const container = at(podOf(objects), 'spec.containers.0')
    t.match(at(container, 'livenessProbe.httpGet'), { path: '/livez', port: 'admin' })
    t.match(at(container, 'readinessProbe.httpGet'), { path: '/readyz', port: 'admin' })
  })

  await t.test('the termination grace period exceeds the sum of preStop and drain', async (t) => {
    const objects = render()
    const pod = podOf(objects)
    const sleep = at(pod, 'spec.containers.0.lifecycle.preStop.exec.command.1')
    const graceMs = Number(at(pod, 'spec.terminationGracePeriodSeconds')) * 1000
    t.ok(graceMs > Number(sleep) * 1000 + configOf(t, objects).timeouts.drain)
    t.equal(at(podOf(render('preStopSleepSeconds=0')), 'spec.containers.0.lifecycle'), undefined)
  })

  await t.test('a changed configuration replaces the pods', async (t) => {
    t.equal(checksumOf(), checksumOf('replicaCount=3'))
    t.not(checksumOf(), checksumOf('config.limits.body=1MiB'))
  })

  await t.test('the URL of Redis is passed as an environment variable', async (t) => {
    const objects = render('redis.existingSecret=redis')
    t.match(at(podOf(objects), 'spec.containers.0.env'), [
      { name: 'REDIS_URL', valueFrom: { secretKeyRef: { name: 'redis', key: 'url' } } },
    ])
    const url = 'redis://redis:6379'
    t.match(configOf(t, objects, { REDIS_URL: url }).cache.redis, { url })
    t.same(
      listAt(podOf(render()), 'spec.containers.0.env').map((one) => at(one, 'name')),
      ['NODE_OPTIONS'],
    )
  })

  await t.test('the signing key for Redis is passed as an environment variable', async (t) => {
    const objects = render('redis.existingSecret=redis', 'redis.signingKey=hmac')
    t.match(at(podOf(objects), 'spec.containers.0.env.1'), {
      name: 'REDIS_SIGNING_KEY',
      valueFrom: { secretKeyRef: { name: 'redis', key: 'hmac' } },
    })
    const key = 'k'.repeat(32)
    const env = { REDIS_URL: 'redis://redis:6379', REDIS_SIGNING_KEY: key }
    t.same(configOf(t, objects, env).cache.signingKeys, [key])
  })

  await t.test('the files of the configuration are mounted next to it', async (t) => {
    t.match(sourcesOf(), [
      { configMap: { name: 'gw-engine-gateway', items: [{ path: 'gateway.yaml' }] } },
      { secret: { name: 'engine-gateway-users', items: [{ path: 'users.yaml' }] } },
      { configMap: { name: 'gw-engine-gateway', items: [{ path: 'authorizations.yaml' }] } },
    ])
    t.match(sourcesOf('existingConfigMap=mine', 'users.existingSecret=', 'users.existingConfigMap=people'), [
      { configMap: { name: 'mine' } },
      { configMap: { name: 'people' } },
      { configMap: { name: 'gw-engine-gateway' } },
    ])
    t.match(sourcesOf('authorizations.existingSecret=records'), [{}, {}, { secret: { name: 'records' } }])
  })

  await t.test('the users are mounted only if an identity source is a file', async (t) => {
    const atEngine = 'config.identity.source=engine'
    t.equal(isUsersMounted(), true)
    t.equal(isUsersMounted(atEngine), false)
    t.equal(isUsersMounted(atEngine, 'config.engines.default.identity.source=file'), true)
    t.equal(isUsersMounted('config.identity.source=htpasswd'), true)
    t.equal(isUsersMounted('existingConfigMap=mine'), true, 'what it reads is not known')
    const elsewhere = 'config.engines.default.identity.file=/other/users.yaml'
    t.equal(isUsersMounted(atEngine, 'config.engines.default.identity.source=file', elsewhere), false)
    t.match(notesOf(t), /secret engine-gateway-users/)
    t.notMatch(notesOf(t, atEngine), /users/)
  })

  await t.test(
    'with readKey, the ServiceMonitor has a token that gives only the right to read',
    async (t) => {
      const set = [
        'adminToken.existingSecret=admin',
        'adminToken.readKey=read',
        'serviceMonitor.enabled=true',
      ]
      const objects = render(...set)
      t.match(at(podOf(objects), 'spec.containers.0.env'), [
        { name: 'ADMIN_TOKEN', valueFrom: { secretKeyRef: { name: 'admin', key: 'token' } } },
        { name: 'ADMIN_READ_TOKEN', valueFrom: { secretKeyRef: { name: 'admin', key: 'read' } } },
      ])
      t.match(at(find(objects, 'ServiceMonitor'), 'spec.endpoints.0.authorization'), {
        credentials: { name: 'admin', key: 'read' },
      })
      const tokens = { ADMIN_TOKEN: 'a-token-of-this-test', ADMIN_READ_TOKEN: 'another-token-of-this-test' }
      t.match(configOf(t, objects, tokens).admin, {
        token: tokens.ADMIN_TOKEN,
        tokens: [{ name: 'service-monitor', token: tokens.ADMIN_READ_TOKEN, right: 'read' }],
      })
      t.match(notesOf(t, 'adminToken.existingSecret=admin', 'adminToken.readKey=read'), /admin.*token.*read/s)
    },
  )

  await t.test('users of a single engine have the same file as users of all engines', async (t) => {
    const objects = render('config.identity.source=engine', 'config.engines.default.identity.source=file')
    const { identity, engines } = configOf(t, objects)
    t.match(identity, { source: 'engine' })
    t.match(engines['default']?.identity, { source: 'file', file: /users\.yaml$/ })
  })

  await t.test('the token of the admin port is passed to the gateway and the ServiceMonitor', async (t) => {
    const set = ['adminToken.existingSecret=admin', 'serviceMonitor.enabled=true']
    const objects = render(...set)
    t.match(at(podOf(objects), 'spec.containers.0.env'), [
      { name: 'ADMIN_TOKEN', valueFrom: { secretKeyRef: { name: 'admin', key: 'token' } } },
    ])
    t.match(at(find(objects, 'ServiceMonitor'), 'spec.endpoints.0.authorization'), {
      type: 'Bearer',
      credentials: { name: 'admin', key: 'token' },
    })
    const ADMIN_TOKEN = 'a-token-of-this-test'
    t.match(configOf(t, objects, { ADMIN_TOKEN }).admin, { host: '0.0.0.0', token: ADMIN_TOKEN })
    t.equal(configOf(t, render()).admin.token, null)
    t.equal(
      at(find(render('serviceMonitor.enabled=true'), 'ServiceMonitor'), 'spec.endpoints.0.authorization'),
      undefined,
    )
    t.match(notesOf(t, ...set), /token of the secret admin/)
    t.match(notesOf(t), /Set adminToken\.existingSecret/)
  })

  await t.test('the admin port accepts the names of its service and configured names', async (t) => {
    const { hosts } = configOf(t, render('config.admin.hosts={metrics.example}')).admin
    t.match(hosts, [
      'gw-engine-gateway-admin',
      'gw-engine-gateway-admin.default',
      'gw-engine-gateway-admin.default.svc',
      'gw-engine-gateway-admin.default.svc.cluster.local',
      'metrics.example',
    ])
  })

  await t.test('the notes name the missing settings behind an ingress', async (t) => {
    const ingress = ['ingress.enabled=true', 'ingress.hosts={gateway.example.org}']
    t.match(notesOf(t, ...ingress), /Set\s+config\.listen\.trustedProxies/)
    const trusted = 'config.listen.trustedProxies={10.0.0.0/8}'
    t.notMatch(notesOf(t, ...ingress, trusted), /trustedProxies/)
    t.notMatch(notesOf(t), /trustedProxies/)
    t.same(configOf(t, render(trusted)).listen.trustedProxies, ['10.0.0.0/8'])
  })

  await t.test('the notes name open ports, closed ports and a single replica', async (t) => {
    const policy = 'networkPolicy.enabled=true'
    const closed = /Set\s+networkPolicy\.adminFrom/
    t.match(notesOf(t, policy, 'serviceMonitor.enabled=true'), closed)
    t.notMatch(notesOf(t, policy), closed)
    t.match(notesOf(t, policy, 'networkPolicy.egress.enabled=true'), /Set networkPolicy\.egress\.engines\.to/)
    const route = ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=public']
    t.match(notesOf(t, ...route), /behind the HTTPRoute/)
    t.match(notesOf(t, 'replicaCount=1'), /Set replicaCount to 2/)
    t.match(
      notesOf(t, 'autoscaling.enabled=true', 'autoscaling.minReplicas=1'),
      /Set autoscaling\.minReplicas/,
    )
    t.notMatch(notesOf(t), /one pod/)
  })

  await t.test('the notes have the URLs of the gateway with their scheme', async (t) => {
    t.match(notesOf(t), 'available at http://gw-engine-gateway.default:80/engine-rest')
    const tls = ['listen', 'admin'].flatMap((listener) => [
      `config.${listener}.tls.cert=/run/secrets/tls/tls.crt`,
      `config.${listener}.tls.key=/run/secrets/tls/tls.key`,
    ])
    const secure = notesOf(t, ...tls)
    t.match(secure, 'available at https://gw-engine-gateway.default:80/engine-rest')
    t.match(secure, "curl --insecure 'https://127.0.0.1:9090/readyz?verbose'")
    t.match(notesOf(t), "curl 'http://127.0.0.1:9090/readyz?verbose'")
    const ingress = ['ingress.enabled=true', 'ingress.hosts={a.example,b.example}']
    t.match(notesOf(t, ...ingress), /and at http:\/\/a\.example\/engine-rest\nand at http:\/\/b\.example/)
    t.match(notesOf(t, ...ingress, 'ingress.tlsSecret=tls'), 'and at https://b.example/engine-rest')
    const first = ['ingress.tls[0].hosts={a.example}', 'ingress.tls[0].secretName=tls']
    t.match(notesOf(t, ...ingress, ...first), /https:\/\/a\.example.*\n.*http:\/\/b\.example/)
  })

  await t.test('the notes list every secret and config map that the release needs', async (t) => {
    const notes = notesOf(
      t,
      'authorizations.existingConfigMap=records',
      'redis.existingSecret=redis',
      'redis.signingKey=hmac',
      'adminToken.existingSecret=admin',
      'secretFiles={orders,tls.example}',
      'config.engines.default.credentials.username=${file:/run/secrets/orders/username}',
      'config.engines.default.credentials.password=${file:/run/secrets/orders/password}',
      'trustedCertificates.existingConfigMap=company-ca',
      'extraEnv[0].name=A',
      'extraEnv[0].valueFrom.secretKeyRef.name=env',
      'extraEnv[0].valueFrom.secretKeyRef.key=a',
      'extraVolumes[0].name=files',
      'extraVolumes[0].configMap.name=files',
      'imagePullSecrets[0].name=registry',
      'ingress.enabled=true',
      'ingress.hosts={a.example}',
      'ingress.tlsSecret=gateway-tls',
    )
    const lines = [
      'secret engine-gateway-users with users.yaml: the users',
      'configmap records with authorizations.yaml: the authorization records',
      'configmap company-ca with ca.crt: trusted certificates',
      'secret redis with url, hmac: Redis',
      'secret admin with token: the token of the admin port',
      'secret orders with password, username: files in /run/secrets/orders',
      'secret tls.example: files in /run/secrets/tls.example',
      'secret env with a: the variable A',
      'configmap files: the volume files',
      'secret registry: the registry of the image',
      'secret gateway-tls with tls.crt, tls.key: the certificate of the ingress',
    ]
    for (const line of lines) t.match(notes, `  ${line}\n`)
    const objects = lines.map((line) => line.split(/[: ]/).slice(0, 2).join('/'))
    t.match(notes, `kubectl -n default get ${objects.join(' ')}\n`)
    const one = 'authorizations.existingSecret=engine-gateway-users'
    t.match(notesOf(t, one), /get secret\/engine-gateway-users\n/, 'an object with two files is named once')
    const least = ['config.identity.source=engine', 'tests.enabled=false']
    t.notMatch(notesOf(t, ...least), /needs these objects/)
    t.match(notesOf(t, 'existingConfigMap=mine'), 'configmap mine with gateway.yaml: the configuration')
  })

  await t.test('the chart is not rendered if users are read from a file that is missing', async (t) => {
    const none = 'users.existingSecret='
    const message = /identity\.source is file or htpasswd: set users\.existingSecret/
    t.throws(() => render(none), message)
    t.throws(
      () => render(none, 'config.identity.source=engine', 'config.engines.default.identity.source=file'),
      message,
    )
    t.doesNotThrow(() => render(none, 'config.identity.source=engine'))
    t.doesNotThrow(() => render(none, 'existingConfigMap=mine'))
  })

  await t.test('optional objects are rendered only if they are enabled', async (t) => {
    const optional = [
      'HorizontalPodAutoscaler',
      'HTTPRoute',
      'Ingress',
      'NetworkPolicy',
      'PrometheusRule',
      'ServiceMonitor',
    ]
    const without = render()
    t.same(
      optional.filter((kind) => find(without, kind) !== undefined),
      [],
    )
    const enabled = [
      'autoscaling',
      'httpRoute',
      'ingress',
      'networkPolicy',
      'prometheusRule',
      'serviceMonitor',
    ]
    const all = render(
      ...enabled.map((name) => `${name}.enabled=true`),
      'ingress.hosts={gateway.example.org}',
      'httpRoute.parentRefs[0].name=public',
    )
    t.same(
      optional.filter((kind) => find(all, kind) !== undefined),
      optional,
    )
  })

  await t.test(
    'the PrometheusRule contains the alerts, with the configured base URL of runbooks',
    async (t) => {
      const base = 'https://git.example/docs/runbooks'
      const rule = find(
        render(
          'prometheusRule.enabled=true',
          `prometheusRule.runbookBaseUrl=${base}/`,
          'prometheusRule.labels.a=b',
        ),
        'PrometheusRule',
      )
      t.equal(at(rule, 'metadata.labels.a'), 'b')
      const expected = parse(readFileSync(join(chart, 'files/alerts.yaml'), 'utf8'), (key, value: unknown) =>
        key === 'runbook_url' ? String(value).replace(/.*(?=\/)/, base) : value,
      )
      t.same(at(rule, 'spec'), expected)
      t.throws(() => render('prometheusRule.runbookBaseUrl=docs/runbooks'), /runbookBaseUrl/)
    },
  )

  await t.test('the dashboard for the sidecar of Grafana is rendered only if it is enabled', async (t) => {
    const name = 'gw-engine-gateway-dashboard'
    t.equal(find(render(), 'ConfigMap', name), undefined)
    const map = find(render('dashboard.enabled=true'), 'ConfigMap', name)
    t.equal(at(map, 'metadata.labels.grafana_dashboard'), '1')
    const data = new Map<string, unknown>(Object.entries(at(map, 'data') ?? {}))
    const file = readFileSync(join(chart, 'files/dashboard.json'), 'utf8')
    t.same(JSON.parse(String(data.get('engine-gateway.json'))), JSON.parse(file))
  })

  await t.test('the chart refuses an unknown value', async (t) => {
    t.throws(() => render('replicas=3'), /additional properties 'replicas' not allowed/)
  })
})
