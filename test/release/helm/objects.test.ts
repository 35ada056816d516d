import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { helmSkip, kubernetesSkip } from '../../support/requirements.ts'
import {
  at,
  CHART,
  CRDS,
  find,
  helm,
  type Json,
  listAt,
  objectsOf,
  podOf,
  renderWith,
  runOn,
  textWith,
} from './render.ts'

/** Values that change every object of the chart. */
const ALL: Json = {
  commonLabels: { team: 'platform', cost: 'shared' },
  commonAnnotations: { owner: 'platform@example.org', source: 'common' },
  deploymentAnnotations: { source: 'own' },
  podLabels: { cost: 'own' },
  priorityClassName: 'critical',
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } },
  minReadySeconds: 5,
  initContainers: [{ name: 'wait', image: 'busybox:1.37' }],
  extraContainers: [{ name: 'proxy', image: 'envoy:1.33' }],
  autoscaling: { enabled: true },
  service: {
    type: 'LoadBalancer',
    labels: { cost: 'own' },
    annotations: { source: 'own' },
    nodePort: 30080,
    loadBalancerClass: 'example.org/internal',
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    externalTrafficPolicy: 'Local',
    internalTrafficPolicy: 'Cluster',
    ipFamilyPolicy: 'PreferDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
  },
  adminService: { labels: { cost: 'own' } },
  ingress: {
    enabled: true,
    labels: { cost: 'own' },
    hosts: ['gateway.example.org', 'api.example.org'],
    path: '/engine-rest',
    pathType: 'ImplementationSpecific',
    tls: [{ hosts: ['gateway.example.org'], secretName: 'gateway-tls' }],
  },
  httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
  networkPolicy: { enabled: true, from: [{ podSelector: { matchLabels: { app: 'ingress' } } }] },
  serviceMonitor: {
    enabled: true,
    annotations: { source: 'own' },
    relabelings: [{ sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'node_name' }],
    metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'nodejs_.*', action: 'drop' }],
  },
  prometheusRule: { enabled: true, annotations: { source: 'own' } },
  dashboard: { enabled: true },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'notes' }, data: { text: '{{ kept }}' } },
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "{{ .Release.Name }}-template" }',
  ],
}

/** Kinds of objects that the chart renders with these values. */
const KINDS = [
  'ConfigMap',
  'Deployment',
  'HTTPRoute',
  'HorizontalPodAutoscaler',
  'Ingress',
  'NetworkPolicy',
  'Pod',
  'PodDisruptionBudget',
  'PrometheusRule',
  'Service',
  'ServiceAccount',
  'ServiceMonitor',
]

interface Rule {
  readonly alert: string
}

const alertsOf = (prometheusRule: Json): readonly unknown[] =>
  listAt(
    find(renderWith({ prometheusRule: { enabled: true, ...prometheusRule } }), 'PrometheusRule'),
    'spec.groups.0.rules',
  )
const service = (values: Json): unknown => at(find(renderWith({ service: values }), 'Service'), 'spec')

t.test('the objects of the chart', { skip: helmSkip }, async (t) => {
  const text = textWith(ALL)
  const objects = objectsOf(text)
  const own = objects.filter((one) => String(at(one, 'metadata.name')).startsWith('gw-engine-gateway'))
  const extra = objects.filter((one) => !own.includes(one))

  await t.test('they are valid in Kubernetes with every value', { skip: kubernetesSkip() }, async (t) => {
    const { status, said } = runOn(t, text, 'kubectl-validate', '--local-crds', CRDS)
    t.equal(status, 0, said)
  })

  await t.test('common labels and annotations are on every object', async (t) => {
    t.same([...new Set(own.map(({ kind }) => String(kind)))].toSorted(), KINDS)
    for (const one of own) {
      const name = [one['kind'], at(one, 'metadata.name')].join(' ')
      t.equal(at(one, 'metadata.labels.team'), 'platform', name)
      t.equal(at(one, 'metadata.annotations.owner'), 'platform@example.org', name)
    }
    t.equal(at(podOf(objects), 'metadata.labels.team'), 'platform')
    t.equal(at(podOf(objects), 'metadata.annotations.owner'), undefined, 'pods have no common annotations')
    t.equal(at(find(objects, 'Deployment'), 'spec.selector.matchLabels.team'), undefined)
  })

  await t.test('labels and annotations of an object have precedence over common ones', async (t) => {
    for (const kind of ['Deployment', 'Service', 'ServiceMonitor', 'PrometheusRule'])
      t.equal(at(find(objects, kind), 'metadata.annotations.source'), 'own', kind)
    t.equal(at(find(objects, 'NetworkPolicy'), 'metadata.annotations.source'), 'common')
    for (const kind of ['Service', 'Ingress']) t.equal(at(find(objects, kind), 'metadata.labels.cost'), 'own')
    t.equal(at(find(objects, 'Service', 'gw-engine-gateway-admin'), 'metadata.labels.cost'), 'own')
    t.equal(at(podOf(objects), 'metadata.labels.cost'), 'own')
    t.equal(at(find(objects, 'Deployment'), 'metadata.labels.cost'), 'shared')
  })

  await t.test('an extra mapping is rendered as it is, and an extra string as a template', async (t) => {
    t.match(extra, [
      { kind: 'ConfigMap', metadata: { name: 'notes' }, data: { text: '{{ kept }}' } },
      { kind: 'ConfigMap', metadata: { name: 'gw-template' } },
    ])
    t.equal(extra.length, 2)
  })

  await t.test('the service has the configured type, port and addresses', async (t) => {
    t.match(at(find(objects, 'Service'), 'spec'), {
      type: 'LoadBalancer',
      ports: [{ name: 'http', port: 80, nodePort: 30080 }],
      loadBalancerClass: 'example.org/internal',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Cluster',
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
    })
    t.equal(at(service({ clusterIP: 'None' }), 'clusterIP'), 'None')
    t.same(Object.keys(Object(service({}))), ['type', 'ports', 'selector'], 'only what is configured')
  })

  await t.test('settings that the type of the service does not have are refused', async (t) => {
    for (const [values, message] of [
      [{ nodePort: 30080 }, /service\.nodePort needs service\.type/],
      [{ externalTrafficPolicy: 'Local' }, /service\.externalTrafficPolicy needs/],
      [{ loadBalancerClass: 'a/b' }, /service\.loadBalancerClass and .* need service\.type: LoadBalancer/],
      [{ type: 'NodePort', loadBalancerSourceRanges: ['10.0.0.0/8'] }, /need service\.type: LoadBalancer/],
    ] as const)
      t.throws(() => service(values), message)
    t.match(service({ type: 'NodePort', nodePort: 30080 }), { ports: [{ nodePort: 30080 }] })
  })

  await t.test('every host of the ingress has the configured path and certificate', async (t) => {
    const spec = at(find(objects, 'Ingress'), 'spec')
    const tls = { hosts: ['gateway.example.org'], secretName: 'gateway-tls' }
    t.same(at(spec, 'tls'), [tls])
    t.match(at(spec, 'rules'), [
      { http: { paths: [{ path: '/engine-rest', pathType: 'ImplementationSpecific' }] } },
      { http: { paths: [{ path: '/engine-rest', pathType: 'ImplementationSpecific' }] } },
    ])
    const ingress = { enabled: true, hosts: ['a.example'], tlsSecret: 'all', tls: [tls] }
    const both = at(find(renderWith({ ingress }), 'Ingress'), 'spec')
    t.same(at(both, 'tls'), [{ hosts: ['a.example'], secretName: 'all' }, tls])
    t.match(at(both, 'rules.0.http.paths'), [{ path: '/', pathType: 'Prefix' }])
  })

  await t.test('the ServiceMonitor changes labels before and after the scrape', async (t) => {
    t.match(at(find(objects, 'ServiceMonitor'), 'spec.endpoints.0'), {
      relabelings: [{ targetLabel: 'node_name' }],
      metricRelabelings: [{ regex: 'nodejs_.*', action: 'drop' }],
    })
  })

  await t.test('an alert can be disabled or changed without the others', async (t) => {
    const { groups } = parse(readFileSync(join(CHART, 'files/alerts.yaml'), 'utf8'))
    const rules: readonly Rule[] = groups[0].rules
    t.same(alertsOf({}), rules)
    const alerts = {
      GatewayNodeEjected: { enabled: false },
      GatewayServerErrors: { for: '10m', labels: { severity: 'warning', team: 'orders' } },
      GatewayDown: {
        expr: 'absent(gateway_info{job="gw"})',
        annotations: { dashboard: 'https://g.example' },
      },
    }
    const changed = alertsOf({ alerts })
    t.match(
      changed,
      rules
        .filter(({ alert }) => alert !== 'GatewayNodeEjected')
        .map((rule) => ({ ...rule, ...Object(new Map(Object.entries(alerts)).get(rule.alert)) })),
    )
    t.equal(changed.length, rules.length - 1)
    const down = changed.find((rule) => at(rule, 'alert') === 'GatewayDown')
    t.same(Object.keys(Object(at(down, 'annotations'))).toSorted(), [
      'dashboard',
      'description',
      'runbook_url',
      'summary',
    ])
    t.equal(at(down, 'labels.severity'), 'critical')
    const enabled = { alerts: { GatewayDown: { enabled: true } } }
    t.same(alertsOf(enabled), rules, 'a rule has no member `enabled`')
    t.throws(
      () => alertsOf({ alerts: { GatewayNodesEjected: { enabled: false } } }),
      /prometheusRule\.alerts\.GatewayNodesEjected: there is no such alert; the alerts are .*GatewayNodeEjected/,
    )
  })

  await t.test('the chart refuses a Kubernetes that is too old', async (t) => {
    t.throws(
      () => helm('template', 'gw', CHART, '--kube-version', '1.26'),
      /chart requires kubeVersion: >=1\.27\.0-0/,
    )
  })
})
