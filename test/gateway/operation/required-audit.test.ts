import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { openGateway } from '../../support/open-gateway.ts'

const STOP = { body: { name: 'stopAll' } }

/** Returns a pipe with a reader. */
function makePipe(folder: string) {
  const file = join(folder, 'audit.jsonl')
  execFileSync('mkfifo', [file])
  return { file, openReader: () => openSync(file, 'r+') }
}

async function valueOf(metrics: { readonly text: () => Promise<string> }, series: string): Promise<number> {
  const line = (await metrics.text()).split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? Number.NaN : Number(line.slice(series.length))
}

t.test(
  'while audit lines cannot be written, `audit.required` refuses writes and recorded reads',
  async (t) => {
    const pipe = makePipe(t.testdir({}))
    const reader = pipe.openReader()
    const settings = { log: { audit: pipe.file }, audit: { required: true, reads: ['getTasksCount'] } }
    const gateway = await openGateway(t, { settings })
    const { metrics, isAuditWritable } = gateway.dependencies
    t.equal((await gateway.ask('demo', 'POST /signal', STOP)).status, 204)
    t.equal((await gateway.ask('demo', 'GET /task/count')).status, 200)

    closeSync(reader)
    await gateway.ask('demo', 'POST /signal', STOP)
    await until(() => !isAuditWritable())
    t.ok((await valueOf(metrics, 'gateway_log_lines_lost_total{stream="audit"}')) > 0)
    for (const route of ['POST /signal', 'GET /task/count'] as const) {
      const { status, headers, forwarded } = await gateway.ask(
        'demo',
        route,
        route === 'POST /signal' ? STOP : {},
      )
      t.equal(status, 503, route)
      t.match(headers, { 'x-gateway-error': 'GW_AUDIT_UNAVAILABLE', 'retry-after': '5' })
      t.same(forwarded, [], 'nothing was sent')
    }
    t.equal((await gateway.ask('demo', 'GET /task')).status, 200, 'other reads continue')

    // Open until the end of the process, because the gateway writes its last line when it closes.
    pipe.openReader()
    await gateway.ask('nobody', 'GET /task/nosuch')
    await until(isAuditWritable)
    t.equal((await gateway.ask('demo', 'POST /signal', STOP)).status, 204)
  },
)

t.test('without `audit.required`, writes continue while audit lines cannot be written', async (t) => {
  const pipe = makePipe(t.testdir({}))
  const reader = pipe.openReader()
  const gateway = await openGateway(t, { settings: { log: { audit: pipe.file } } })
  closeSync(reader)
  await gateway.ask('demo', 'POST /signal', STOP)
  await until(() => !gateway.dependencies.isAuditWritable())
  t.equal((await gateway.ask('demo', 'POST /signal', STOP)).status, 204)
  // Open until the end of the process, because the gateway writes its last line when it closes.
  pipe.openReader()
  await gateway.ask('demo', 'POST /signal', STOP)
  await until(gateway.dependencies.isAuditWritable)
})
