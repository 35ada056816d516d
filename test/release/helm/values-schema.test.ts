import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { helmSkip } from '../../support/requirements.ts'
import { at, CHART, helm, render } from './render.ts'

const schema: unknown = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))
const values: unknown = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))

/** Kubernetes objects that are passed on unchanged. The API server validates their content. */
const TAKEN_AS_THEY_ARE = [
  /^properties\.global$/,
  /^properties\.autoscaling\..*\.(containerResource|external|object|pods|resource)$/,
  /^properties\.extraEnv\.items\.properties\.valueFrom\.properties\.\w+$/,
  /^properties\.serviceMonitor\.properties\.tlsConfig$/,
  /^properties\.extraVolumes\.items(\.additionalProperties)?$/,
  /^properties\.extraObjects\.items\.anyOf\.0$/,
  /^definitions\.containers\.items$/,
]

/** Returns the paths of all object schemas except those of the configuration, which has its own tests. */
function objectSchemas(
  value: unknown,
  path: readonly string[] = [],
): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || path.join('.') === 'properties.config') return []
  const inner = Object.entries(value).flatMap(([name, one]) => objectSchemas(one, [...path, name]))
  return at(value, 'type') === 'object' ? [[path.join('.'), value], ...inner] : inner
}

/** Returns the keys of all sections whose names the chart defines. */
function keysOf(schemaOf: unknown, path = ''): readonly string[] {
  return Object.entries(Object(at(schemaOf, 'properties'))).flatMap(([name, one]) => [
    `${path}${name}`,
    ...keysOf(one, `${path}${name}.`),
  ])
}

t.test('no section of the values accepts an unknown key', async (t) => {
  const objects = objectSchemas(schema)
  t.ok(objects.length > 40)
  t.same(
    objects
      .filter(
        ([, one]) =>
          at(one, 'additionalProperties') === undefined || at(one, 'additionalProperties') === true,
      )
      .map(([path]) => path)
      .filter((path) => !TAKEN_AS_THEY_ARE.some((pattern) => pattern.test(path))),
    [],
  )
})

t.test('values.yaml contains every key of the schema', async (t) => {
  const OF_KUBERNETES =
    /^(global|config|affinity|podSecurityContext|securityContext|resources|autoscaling\.behavior|strategy|\w+Probe)\b/
  t.same(
    keysOf(schema).filter((path) => !OF_KUBERNETES.test(path) && at(values, path) === undefined),
    [],
  )
})

t.test('an unknown value is refused with its path', { skip: helmSkip }, async (t) => {
  for (const [set, message] of [
    ['replicas=3', /at '': additional properties 'replicas' not allowed/],
    ['autoscaling.max=3', /at '\/autoscaling': additional properties 'max'/],
    ['networkPolicy.egress.dns.port=53', /at '\/networkPolicy\/egress\/dns': additional properties 'port'/],
    [
      'networkPolicy.egress.engines.to[0].namespace=a',
      /at '\/networkPolicy\/egress\/engines\/to\/0'.* 'namespace'/,
    ],
    ['securityContext.readOnlyRootFileSystem=true', /at '\/securityContext': .*'readOnlyRootFileSystem'/],
    ['resources.limit.cpu=1', /at '\/resources': additional properties 'limit'/],
    ['tolerations[0].effects=NoSchedule', /at '\/tolerations\/0': additional properties 'effects'/],
    ['authorizations.records[0].resource=6', /at '\/authorizations\/records\/0'/],
    ['httpRoute.parentRefs[0].gateway=a', /at '\/httpRoute\/parentRefs\/0'/],
    ['strategy.rollingUpdate.surge=1', /at '\/strategy\/rollingUpdate': additional properties 'surge'/],
    ['commonLabels.helm\\.sh/chart=a', /invalid propertyName 'helm\.sh\/chart'/],
    ['extraContainers[0].name=a', /at '\/extraContainers\/0': missing property 'image'/],
    ['extraObjects[0].kind=ConfigMap', /at '\/extraObjects\/0'/],
    ['service.type=ExternalName', /at '\/service\/type'/],
    ['ingress.path=engine-rest', /at '\/ingress\/path'/],
    ['ingress.tls[0].secret=a', /at '\/ingress\/tls\/0': additional properties 'secret'/],
    ['networkPolicy.from[0].namespace=a', /at '\/networkPolicy\/from\/0'.* 'namespace'/],
    ['serviceMonitor.relabelings[0].source=a', /at '\/serviceMonitor\/relabelings\/0'/],
    ['prometheusRule.alerts.GatewayDown.severity=a', /at '\/prometheusRule\/alerts\/GatewayDown'/],
  ] as const)
    t.throws(() => render(set), { message }, set)
})

/** Renders the chart with these values only. */
function template(...sets: readonly string[]): string {
  return helm('template', 'gw', CHART, ...sets.flatMap((set) => ['--set', set]))
}

t.test('a chart without an image or an engine is refused', { skip: helmSkip }, async (t) => {
  const image = 'image.repository=registry.example/engine-gateway'
  const engine = 'config.engines.orders.nodes={http://orders:8080/engine-rest}'
  t.throws(
    () => template(engine),
    /image\.repository is not set: .*release\/build-image.*\(docs\/releases\.md\)/,
  )
  t.throws(() => template(image), /config\.engines is empty: add your engines/)
  t.throws(() => template(image, 'config.engines.default=null'), /config\.engines is empty/)
  t.doesNotThrow(() => template(image, engine))
  t.doesNotThrow(() => template(image, 'existingConfigMap=mine'))
})

t.test('docs/helm.md names every example', async (t) => {
  const page = readFileSync(join(CHART, '../../docs/helm.md'), 'utf8')
  const files = globSync('*.yaml', { cwd: join(CHART, '../examples') })
  t.same(
    files.filter((file) => !page.includes(`(../helm/examples/${file})`)),
    [],
  )
})
