import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { helmSkip } from '../../support/requirements.ts'
import { at, find, listAt, podOf, render, renderWith } from './render.ts'

const ONE_CORE = '"--single-threaded-gc"'
const DOCKERFILE = new URL('../../../Dockerfile', import.meta.url)

const container = (...sets: readonly string[]) => at(podOf(render(...sets)), 'spec.containers.0')
const namesOf = (...sets: readonly string[]) =>
  listAt(container(...sets), 'env').map((one) => at(one, 'name'))
const budgetOf = (...sets: readonly string[]) => at(find(render(...sets), 'PodDisruptionBudget'), 'spec')
const graceOf = (...sets: readonly string[]) =>
  at(podOf(render(...sets)), 'spec.terminationGracePeriodSeconds')

const schemesOf = (...sets: readonly string[]) =>
  ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) =>
    at(container(...sets), `${probe}.httpGet.scheme`),
  )
const endpointOf = (...sets: readonly string[]) =>
  at(find(render('serviceMonitor.enabled=true', ...sets), 'ServiceMonitor'), 'spec.endpoints.0')

t.test('the pods of the chart', { skip: helmSkip }, async (t) => {
  await t.test('pods are probed and scraped with the scheme of the admin listener', async (t) => {
    t.same(new Set(schemesOf()), new Set(['HTTP']))
    t.equal(at(endpointOf(), 'scheme'), undefined)
    const tls = ['config.admin.tls.cert=/tls/tls.crt', 'config.admin.tls.key=/tls/tls.key']
    t.same(new Set(schemesOf(...tls)), new Set(['HTTPS']))
    t.match(endpointOf(...tls, 'serviceMonitor.tlsConfig.serverName=gateway'), {
      scheme: 'https',
      tlsConfig: { serverName: 'gateway' },
    })
  })

  await t.test('the autoscaler, if enabled, sets the number of pods', async (t) => {
    t.equal(at(find(render('replicaCount=3'), 'Deployment'), 'spec.replicas'), 3)
    const set = [
      'autoscaling.enabled=true',
      'autoscaling.metrics[0].type=Pods',
      'autoscaling.behavior.scaleDown.stabilizationWindowSeconds=60',
    ]
    const objects = render(...set)
    t.notOk(Object.hasOwn(Object(at(find(objects, 'Deployment'), 'spec')), 'replicas'))
    t.match(at(find(objects, 'HorizontalPodAutoscaler'), 'spec'), {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'gw-engine-gateway' },
      minReplicas: 2,
      maxReplicas: 6,
      metrics: [
        { resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
        { type: 'Pods' },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    })
    const alone = find(render(...set, 'autoscaling.targetCPUUtilization=0'), 'HorizontalPodAutoscaler')
    t.same(at(alone, 'spec.metrics'), [{ type: 'Pods' }])
  })

  await t.test('an autoscaler without a usable metric is refused', async (t) => {
    const on = 'autoscaling.enabled=true'
    t.throws(() => render(on, 'autoscaling.targetCPUUtilization=0'), /autoscaling needs a target/)
    t.throws(
      () => render(on, 'autoscaling.maxReplicas=1'),
      /maxReplicas \(1\) is less than .*minReplicas \(2\)/,
    )
    t.throws(() => render(on, 'resources.requests.cpu=null'), /percentage of resources\.requests\.cpu/)
  })

  await t.test('pods of one rollout are spread over zones and nodes', async (t) => {
    const labels = at(find(render(), 'Deployment'), 'spec.selector.matchLabels')
    const own = {
      maxSkew: 1,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: labels },
      matchLabelKeys: ['pod-template-hash'],
    }
    t.same(at(podOf(render()), 'spec.topologySpreadConstraints'), [
      { ...own, topologyKey: 'topology.kubernetes.io/zone' },
      { ...own, topologyKey: 'kubernetes.io/hostname' },
    ])
    const first = 'topologySpreadConstraints[0]'
    const others = [
      `${first}.maxSkew=2`,
      `${first}.topologyKey=rack`,
      `${first}.whenUnsatisfiable=DoNotSchedule`,
    ]
    const selector = `${first}.labelSelector.matchLabels.a=b`
    t.match(at(podOf(render(...others, selector)), 'spec.topologySpreadConstraints'), [
      { maxSkew: 2, topologyKey: 'rack', labelSelector: { matchLabels: { a: 'b' } } },
    ])
    t.equal(at(podOf(render('topologySpreadConstraints=null')), 'spec.topologySpreadConstraints'), undefined)
  })

  await t.test('one pod at a time can always be evicted', async (t) => {
    t.match(budgetOf('replicaCount=1'), { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' })
    t.match(budgetOf('replicaCount=3', 'podDisruptionBudget.minAvailable=2'), { minAvailable: 2 })
    t.match(budgetOf('replicaCount=3', 'podDisruptionBudget.minAvailable=66%'), { minAvailable: '66%' })
    t.equal(budgetOf('podDisruptionBudget.enabled=false'), undefined)
    for (const sets of [
      ['replicaCount=1', 'podDisruptionBudget.minAvailable=1'],
      ['replicaCount=1', 'podDisruptionBudget.minAvailable=50%'],
      ['replicaCount=3', 'podDisruptionBudget.minAvailable=67%'],
      ['podDisruptionBudget.maxUnavailable=0'],
      ['podDisruptionBudget.maxUnavailable=0%'],
      ['autoscaling.enabled=true', 'replicaCount=9', 'podDisruptionBudget.minAvailable=2'],
    ])
      t.throws(() => render(...sets), /no pod could be evicted/, sets.join(' '))
  })

  await t.test('the termination grace period covers the drain', async (t) => {
    t.equal(graceOf(), 40)
    t.equal(graceOf('config.timeouts.drain=2m', 'preStopSleepSeconds=10'), 145)
    t.equal(graceOf('config.timeouts.drain=1500ms', 'preStopSleepSeconds=0'), 17)
    t.equal(graceOf('config.timeouts.drain=${DRAIN}'), 40)
    t.equal(graceOf('terminationGracePeriodSeconds=30'), 30)
    t.throws(
      () => render('terminationGracePeriodSeconds=30', 'config.timeouts.drain=30s'),
      /terminationGracePeriodSeconds \(30\) is too short .* set at least 40/,
    )
  })

  await t.test('secrets are mounted as files, each in a folder with its name', async (t) => {
    const pod = podOf(render('secretFiles={orders-account,billing}'))
    t.match(at(pod, 'spec.containers.0.volumeMounts'), [
      {},
      { name: 'secret-0', mountPath: '/run/secrets/orders-account', readOnly: true },
      { name: 'secret-1', mountPath: '/run/secrets/billing', readOnly: true },
    ])
    t.match(at(pod, 'spec.volumes'), [
      {},
      { name: 'secret-0', secret: { secretName: 'orders-account' } },
      { name: 'secret-1', secret: { secretName: 'billing' } },
    ])
    t.throws(() => render('secretFiles={../etc}'), /\/secretFiles\/0'/)
  })

  await t.test('pods trust the configured certificate authorities', async (t) => {
    const file = '/etc/engine-gateway-trusted/ca.crt'
    for (const [kind, value] of [
      ['configMap', 'trustedCertificates.existingConfigMap=company'],
      ['secret', 'trustedCertificates.existingSecret=company'],
    ] as const) {
      const pod = podOf(render(value, 'trustedCertificates.key=root.pem'))
      t.match(at(pod, 'spec.containers.0.env'), [{ name: 'NODE_EXTRA_CA_CERTS', value: file }])
      t.match(at(pod, 'spec.containers.0.volumeMounts.1.mountPath'), '/etc/engine-gateway-trusted')
      t.match(at(pod, 'spec.volumes.1.projected.sources'), [
        { [kind]: { name: 'company', items: [{ key: 'root.pem', path: 'ca.crt' }] } },
      ])
    }
    t.same(namesOf(), ['NODE_OPTIONS'])
  })

  await t.test('the processes of a pod share half of its memory limit as heap limits', async (t) => {
    const optionsOf = (...sets: readonly string[]) =>
      listAt(container(...sets), 'env')
        .filter((one) => at(one, 'name') === 'NODE_OPTIONS')
        .map((one) => at(one, 'value'))
    t.same(optionsOf(), ['--max-old-space-size-percentage=50'])
    t.same(optionsOf('config.workers=3'), ['--max-old-space-size-percentage=16'])
    t.same(optionsOf('config.workers=64'), ['--max-old-space-size-percentage=1'])
    t.same(optionsOf('extraEnv[0].name=NODE_OPTIONS', 'extraEnv[0].value=--max-old-space-size=400'), [
      '--max-old-space-size=400',
    ])
    const variable = 'config.workers=${WORKERS}'
    t.throws(() => render(variable), /config\.workers is a variable: set NODE_OPTIONS/)
    t.same(
      optionsOf(variable, 'extraEnv[0].name=NODE_OPTIONS', 'extraEnv[0].value=--max-old-space-size=400'),
      ['--max-old-space-size=400'],
    )
    // Without a limit, the share would be that of the node's memory.
    t.equal(at(container('resources.limits.memory=null'), 'env'), undefined)
    for (const option of [...optionsOf(), ...optionsOf('config.workers=3')]) {
      const env = { ...process.env, NODE_OPTIONS: String(option) }
      t.equal(spawnSync(process.execPath, ['-p', '1'], { env }).stdout.toString(), '1\n', String(option))
    }
  })

  await t.test('a container with at most one core has the flag for one core', async (t) => {
    const commandOf = (cpu: string) => at(container(`resources.limits.cpu=${cpu}`), 'command')
    const entry = /^ENTRYPOINT (.*)$/m.exec(readFileSync(DOCKERFILE, 'utf8'))?.[1] ?? '[]'
    const expected = JSON.parse(entry.replace('"dist/main.js"', `${ONE_CORE}, "dist/main.js"`))
    t.match(expected, { length: 9 })
    for (const cpu of ['1', '0.5', '1000m', '250m']) t.same(commandOf(cpu), expected, cpu)
    for (const cpu of ['2', '1.5', '1001m']) t.equal(commandOf(cpu), undefined, cpu)
    t.equal(at(container(), 'command'), undefined, 'without a limit of processor time')
  })

  await t.test('a rolling update has the configured strategy and readiness time', async (t) => {
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 }
    const set = ['type=RollingUpdate', 'rollingUpdate.maxSurge=1', 'rollingUpdate.maxUnavailable=0']
    const strategy = set.map((one) => `strategy.${one}`)
    t.match(at(find(render(...strategy, 'minReadySeconds=10'), 'Deployment'), 'spec'), {
      strategy: { type: 'RollingUpdate', rollingUpdate },
      minReadySeconds: 10,
    })
    const spec = Object(at(find(render(), 'Deployment'), 'spec'))
    t.same([spec.strategy, spec.minReadySeconds], [undefined, undefined])
  })

  await t.test('a pod has the configured priority and containers', async (t) => {
    const init = { name: 'wait', image: 'busybox:1.37', command: ['true'] }
    const proxy = { name: 'proxy', image: 'envoy:1.33' }
    const spec = at(
      podOf(renderWith({ priorityClassName: 'critical', initContainers: [init], extraContainers: [proxy] })),
      'spec',
    )
    t.equal(at(spec, 'priorityClassName'), 'critical')
    t.same(at(spec, 'initContainers'), [init])
    t.match(at(spec, 'containers'), [{ name: 'gateway' }, proxy])
    t.same(at(podOf(render()), 'spec.initContainers'), undefined)
    t.equal(listAt(podOf(render()), 'spec.containers').length, 1)
  })

  await t.test('the records of one engine can be read from the file of all engines', async (t) => {
    const objects = render('config.engines.default.authorization.records.source=file')
    const text = String(Object.entries(Object(at(find(objects, 'ConfigMap'), 'data')))[0]?.[1])
    t.match(text, /default:\n +authorization:\n +records:\n +file: authorizations\.yaml/)
  })
})
