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

t.test('move report shows the differences between the groups', async (t) => {
  await ask('demo', '/task/count')
  await until(async () => (await move('report')).code === 1)
  const { out } = await move('report')
  t.match(
    out,
    /^default: 1 reads were compared\n {2}different: 1\n {2}\S+ getTasksCount \/count: number, number \(once\)\n$/,
  )
  const { out: json } = await move('report', '--format', 'json')
  t.match(JSON.parse(json), { default: { results: { different: 1 }, differences: [{ place: '/count' }] } })
})
