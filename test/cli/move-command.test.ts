import t from 'tap'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable, writeSetup } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'

const node = await startNode(t, ({ url }, response) =>
  response
    .setHeader('content-type', 'application/json')
    .end(url.startsWith('/new') ? '{"count":2}' : '{"count":1}'),
)
const { running, file } = await startReloadable(t, {
  engines: {
    default: {
      nodes: [
        { url: `${node.url}/engine-rest`, group: 'old' },
        { url: `${node.url}/new/engine-rest`, group: 'new' },
      ],
      shift: { to: 'new', reads: '0%' },
      compare: { rate: '100%', operations: ['getTasksCount'] },
    },
  },
  health: { probe: false },
  admin: { port: 0 },
})
const move = (...options: readonly string[]) =>
  runInProcess(['move', ...options, '--config', file, '--admin', running.adminAddress])

const lineOf = (reads: string, writes: string) =>
  `default: new gets ${reads} of the reads and ${writes} of the writes; old gets the rest\n`

t.test('move shows and changes the shares', async (t) => {
  t.match(await move('status'), { code: 0, out: lineOf('0%', '0%'), err: '' })
  t.match(await move('shift', 'reads', '25%'), { code: 0, out: lineOf('25%', '0%') })
  t.match(await move('shift', 'writes', '12.5%'), { code: 0, out: lineOf('25%', '12.5%') })
  t.match(await move('shift', 'all', '100%', '--engine', 'default'), { code: 0, out: lineOf('100%', '100%') })
  t.match(await move('back'), { code: 0, out: lineOf('0%', '0%') })
  const { out } = await move('status', '--format', 'json')
  t.same(JSON.parse(out), {
    engine: 'default',
    to: 'new',
    from: 'old',
    reads: 0,
    writes: 0,
    returned: null,
    finding: null,
    refused: null,
    revision: 4,
    shared: null,
  })
})

t.test('move tells if only one gateway was changed, because Redis does not respond', async (t) => {
  const old = await startNode(t, (_request, response) => response.end('{}'))
  const alone = await startReloadable(t, {
    engines: {
      default: {
        nodes: ['old', 'new'].map((group) => ({ url: `${old.url}/${group}`, group })),
        shift: { to: 'new', reads: '100%' },
      },
    },
    health: { probe: false },
    admin: { port: 0 },
    cache: { redis: 'redis://127.0.0.1:1' },
  })
  const moveAlone = (...options: readonly string[]) =>
    runInProcess(['move', ...options, '--config', alone.file, '--admin', alone.running.adminAddress])
  t.match(await moveAlone('back'), {
    code: 1,
    out: `${lineOf('0%', '0%')}Only this gateway was changed, because Redis does not respond`,
  })
  t.match(await moveAlone('status'), { code: 0, out: lineOf('0%', '0%') })
  const { out } = await moveAlone('shift', 'reads', '1%', '--format', 'json')
  t.match(JSON.parse(out), { reads: 0.01, revision: 2, shared: false })
})

const log = (version: string) => JSON.stringify([{ id: '0', timestamp: '2026', version }])

t.test('move check shows what must be changed, and for which engine', async (t) => {
  const responses: Record<string, string> = {
    '/engine-rest/engine': '[{"name":"default"}]',
    '/new/engine-rest/engine': '[{"name":"default"}]',
    '/engine-rest/telemetry/data': '{"product":{"name":"Camunda BPM Runtime"}}',
    '/new/engine-rest/telemetry/data': '{"product":{"name":"Operaton BPM Runtime"}}',
    '/engine-rest/version': '{"version":"7.22.0"}',
    '/new/engine-rest/version': '{"version":"1.0.3"}',
    '/engine-rest/schema/log': log('7.22.0'),
    '/new/engine-rest/schema/log': log('7.22.0'),
  }
  const received: string[] = []
  const engine = await startNode(t, ({ method, url }, response) => {
    received.push(`${method} ${url}`)
    const path = url.replace(/\?.*/, '')
    response.setHeader('content-type', 'application/json').end(responses[path] ?? '[]')
  })
  const { file: own, write } = await writeSetup(t)
  await write({
    engines: {
      default: {
        nodes: [
          { url: `${engine.url}/engine-rest`, group: 'old' },
          { url: `${engine.url}/new/engine-rest`, group: 'new' },
        ],
        shift: { to: 'new' },
      },
    },
    authorization: {
      adminGroups: ['camunda-admin', 'operaton-admin'],
      records: { source: 'file', file: 'records.yaml' },
    },
    health: { probe: false },
  })
  const check = (...options: readonly string[]) =>
    runInProcess(['move', 'check', '--config', own, ...options])
  const { code, out } = await check()
  t.equal(code, 1)
  t.match(out, /^error: default, group new: schema: Operaton 1\.0\.3 needs the schema 7\.23/)
  t.match(out, /\n {2}to do: Run the upgrade scripts from 7\.22\.0 to 7\.24/)
  t.match(out, /\n1 obstacle found\n$/)
  t.ok(
    received.every((request) => request.startsWith('GET ')),
    'it only reads',
  )
  for (const path of ['/engine-rest/schema/log', '/new/engine-rest/schema/log'])
    responses[path] = log('7.24.0')
  t.match(await check('--engine', 'default'), { code: 0, out: /no obstacle was found\n$/ })
  t.match(JSON.parse((await check('--format', 'json')).out), {
    file: own,
    good: true,
    findings: [{ engine: 'default', severity: 'info', subject: 'family', group: 'old' }],
  })
  t.match(await check('--engine', 'second'), { code: 2, err: /No engine has groups/ })
  t.match(await check('--timeout', '0'), { code: 2, err: /from 1 to 86400/ })
  t.match(await check('reads'), { code: 2, err: /check takes neither a kind nor a share/ })
  const connected = await runInProcess(['check', '--config', own, '--connect', '--format', 'json'])
  t.match(JSON.parse(connected.out), { move: [{ engine: 'default', subject: 'family' }] })
  responses['/new/engine-rest/schema/log'] = log('7.22.0')
  t.match(await runInProcess(['check', '--config', own, '--connect']), {
    code: 1,
    out: /\nerror: default: database: /,
  })
})

t.test('wrong arguments change nothing', async (t) => {
  for (const [options, message] of [
    [['shift'], /shift needs a kind and a share/],
    [['shift', 'reads'], /shift needs a kind and a share/],
    [['shift', 'reads', '200%'], /a share from 0% to 100% is needed/],
    [['back', 'reads'], /back takes neither a kind nor a share/],
    [['status', '--engine', 'second'], /The engine has no groups of nodes/],
  ] as const)
    t.match(await move(...options), { code: 2, err: message }, options.join(' '))
  t.match(await move('status'), { out: lineOf('0%', '0%') })
})

t.test('move report shows that nothing was compared yet, or that nothing is compared', async (t) => {
  t.same(await move('report'), { code: 0, out: 'default: 0 reads were compared\n', err: '' })
  t.match(await move('report', '--engine', 'other'), { code: 2, err: /Nothing is compared/ })
})
