import t from 'tap'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { createPurge } from '../../src/server/purge.ts'
import { PURGE } from '../../src/server/questions.ts'

/** Returns the response to a purge if the processes give these answers. */
async function purgeOf(configured: number, answers: readonly unknown[]) {
  const metrics = createMetrics({ version: '1' })
  const lines: unknown[] = []
  const purge = createPurge({
    processes: {
      askEach: async ({ isAnswer }) => answers.filter(isAnswer),
      askOne: async () => null,
      configured,
    },
    metrics,
    log: createLogger({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
  })
  const { status, value } = await purge({ tag: 'deployment' })
  const counts = (await metrics.text()).match(/^gateway_cache_purges_total\{.*$/gm)
  return { status, value, counts, lines }
}

t.test('the counts of all processes are summed, and the worst state of Redis is shown', async (t) => {
  const purged = await purgeOf(2, [
    { evicted: 2, redis: 'up' },
    { evicted: 3, redis: 'down' },
  ])
  t.match(purged, {
    status: 200,
    value: { evicted: 5, processes: 2, redis: 'down' },
    counts: ['gateway_cache_purges_total{result="purged"} 1'],
    lines: [{ msg: 'cache purged', evicted: 5, selection: { tag: 'deployment' } }],
  })
})

t.test('a purge that one process did not answer is a 503', async (t) => {
  const purged = await purgeOf(2, [{ evicted: 2, redis: 'none' }])
  t.match(purged, {
    status: 503,
    value: { error: 'Only 1 of 2 processes responded', evicted: 2 },
    counts: ['gateway_cache_purges_total{result="incomplete"} 1'],
  })
})

t.test('a purge with a selection that is not valid is a 400', async (t) => {
  const purged = await purgeOf(2, [{ problem: 'no' }, { problem: 'no' }])
  t.match(purged, {
    status: 400,
    value: { error: 'no' },
    counts: ['gateway_cache_purges_total{result="refused"} 1'],
  })
  t.same(purged.lines, [])
})

t.test('an answer of another form is rejected', async (t) => {
  for (const value of [null, {}, { evicted: '1' }, { problem: 1 }]) t.notOk(PURGE.isAnswer(value))
})
