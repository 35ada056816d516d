import t from 'tap'
import { helmSkip } from '../../support/requirements.ts'
import { at, find, listAt, render } from './render.ts'

const ON = ['networkPolicy.enabled=true', 'networkPolicy.egress.enabled=true']
const EGRESS = 'networkPolicy.egress'

function policyOf(...sets: readonly string[]): unknown {
  return at(find(render('networkPolicy.enabled=true', ...sets), 'NetworkPolicy'), 'spec')
}

/** Returns the egress rules of a policy that restricts egress. */
function egressOf(...sets: readonly string[]): unknown {
  return at(find(render(...ON, ...sets), 'NetworkPolicy'), 'spec.egress')
}

/** Returns the ports of the egress rule for engines. */
function enginePortsOf(...sets: readonly string[]): unknown {
  return at(egressOf(...sets), '1.ports')
}

/** Returns the port of the egress rule for Redis. */
function redisPortOf(...sets: readonly string[]): unknown {
  return at(egressOf(...sets), '2.ports.0.port')
}

t.test('the NetworkPolicy and the HTTPRoute of the chart', { skip: helmSkip }, async (t) => {
  await t.test('only the listed namespaces reach the admin port', async (t) => {
    const monitoring = 'networkPolicy.adminFrom[0].matchLabels.team=monitoring'
    t.same(at(policyOf(monitoring), 'ingress'), [
      { ports: [{ port: 'http', protocol: 'TCP' }] },
      {
        ports: [{ port: 'admin', protocol: 'TCP' }],
        from: [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }],
      },
    ])
    t.same(at(policyOf(), 'ingress'), [{ ports: [{ port: 'http', protocol: 'TCP' }] }])
    t.same(at(policyOf(), 'policyTypes'), ['Ingress'])
    t.equal(at(policyOf(), 'egress'), undefined)
  })

  await t.test('only the listed peers and the pod of helm test reach the traffic port', async (t) => {
    const labels = { 'kubernetes.io/metadata.name': 'ingress-nginx' }
    const from = 'networkPolicy.from[0].namespaceSelector.matchLabels.kubernetes\\.io/metadata\\.name'
    const peer = { namespaceSelector: { matchLabels: labels } }
    t.same(at(policyOf(`${from}=ingress-nginx`, 'tests.enabled=false'), 'ingress.0.from'), [peer])
    const test = at(find(render(), 'Pod', 'gw-engine-gateway-refuses-strangers'), 'metadata.labels')
    const [first, second] = listAt(policyOf(`${from}=ingress-nginx`), 'ingress.0.from')
    t.same(first, peer)
    const selected = at(second, 'podSelector.matchLabels')
    t.match(selected, { 'app.kubernetes.io/component': 'test', 'app.kubernetes.io/instance': 'gw' })
    t.match(test, selected)
  })

  await t.test('restricted egress allows only DNS, engines and listed rules', async (t) => {
    const engines = { matchLabels: { team: 'engines' } }
    t.same(egressOf(`${EGRESS}.engines.to[0].namespaceSelector.matchLabels.team=engines`), [
      {
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
        to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } }],
      },
      { ports: [{ port: 8080, protocol: 'TCP' }], to: [{ namespaceSelector: engines }] },
    ])
    t.match(egressOf(`${EGRESS}.rules[0].ports[0].port=4318`), [{}, {}, { ports: [{ port: 4318 }] }])
    t.same(at(find(render(...ON), 'NetworkPolicy'), 'spec.policyTypes'), ['Ingress', 'Egress'])
  })

  await t.test('egress is allowed to the ports of the engines in the configuration', async (t) => {
    const nodes = 'config.engines.default.nodes'
    t.same(
      enginePortsOf(
        `${nodes}={http://a:8080/engine-rest,https://b/engine-rest,http://[::1]:81/engine-rest}`,
        'config.engines.orders.nodes[0].url=http://c/engine-rest',
        'config.passthrough[0].prefix=/app',
        'config.passthrough[0].upstream=http://web:8082',
        'config.passthrough[1].prefix=/other',
        'config.passthrough[1].nodes[0]=http://web:8083/other',
        'config.passthrough[1].nodes[1].url=http://web:8084/other',
      ),
      [8080, 443, 81, 80, 8082, 8083, 8084].map((port) => ({ port, protocol: 'TCP' })),
    )
    const own = [`${EGRESS}.engines.ports={9000}`]
    t.same(enginePortsOf(...own, `${nodes}[0]=\${ENGINE_URL}`), [{ port: 9000, protocol: 'TCP' }])
    t.same(enginePortsOf(...own, 'existingConfigMap=mine'), [{ port: 9000, protocol: 'TCP' }])
    const message = /set networkPolicy\.egress\.engines\.ports/
    t.throws(() => egressOf(`${nodes}[0]=\${ENGINE_URL}`), message)
    t.throws(() => egressOf('existingConfigMap=mine'), message)
  })

  await t.test('egress to Redis is allowed if Redis is configured', async (t) => {
    t.equal(redisPortOf(), undefined)
    t.equal(redisPortOf('redis.existingSecret=redis'), 6379)
    t.equal(redisPortOf('config.cache.redis=rediss://user:secret@redis:6380/1'), 6380)
    t.equal(redisPortOf('config.cache.redis=redis://redis'), 6379)
    t.equal(redisPortOf('redis.existingSecret=redis', `${EGRESS}.redis.ports={26379}`), 26379)
  })

  await t.test('the HTTPRoute is attached to the listed parents and sets no timeouts', async (t) => {
    const on = ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=public']
    const route = find(render(...on, 'httpRoute.hostnames={gateway.example.org}'), 'HTTPRoute')
    t.same(at(route, 'spec'), {
      parentRefs: [{ name: 'public' }],
      hostnames: ['gateway.example.org'],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          timeouts: { request: '0s', backendRequest: '0s' },
          backendRefs: [{ name: 'gw-engine-gateway', port: 80 }],
        },
      ],
    })
    t.throws(() => render('httpRoute.enabled=true'), /\/httpRoute\/parentRefs'/)
    t.throws(() => render(...on, 'httpRoute.timeouts.request=1d'), /\/httpRoute\/timeouts\/request'/)
  })
})
