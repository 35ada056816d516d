import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'

const node = await startNode(t, ({ url }, response) =>
  response
    .setHeader('content-type', 'application/json')
    .end(url.startsWith('/new') ? '{"count":2}' : '{"count":1}'),
)
const { running, file, ask } = await startReloadable(t, {
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
  t.same(JSON.parse(out), { engine: 'default', to: 'new', from: 'old', reads: 0, writes: 0, returned: null })
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

t.test('move report shows the differences between the groups', async (t) => {
  t.same(await move('report'), { code: 0, out: 'default: 0 reads were compared\n', err: '' })
  t.match(await move('report', '--engine', 'other'), { code: 2, err: /Nothing is compared/ })
  await ask('demo', '/task/count')
  await until(async () => (await move('report')).code === 1)
  const { out } = await move('report')
  t.match(
    out,
    /^default: 1 reads were compared\n {2}different: 1\n {2}\S+ getTasksCount \/count: number, number\n$/,
  )
  const { out: json } = await move('report', '--format', 'json')
  t.match(JSON.parse(json), { default: { results: { different: 1 }, differences: [{ place: '/count' }] } })
})
