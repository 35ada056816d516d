import t from 'tap'
import { RemovalWatch, removalPolicyOf } from '../../src/redis/removal-policy.ts'

const report = (maxmemory: string, policy: string) =>
  `# Memory\r\nused_memory:1000\r\nmaxmemory:${maxmemory}\r\nmaxmemory_human:1K\r\nmaxmemory_policy:${policy}\r\n`

t.test('keys are removed with a limit of memory and any policy but noeviction', async (t) => {
  t.equal(removalPolicyOf(report('1000', 'allkeys-lru')), 'allkeys-lru')
  t.equal(
    removalPolicyOf(report('1000', 'volatile-ttl')),
    'volatile-ttl',
    'all keys of a gateway have a time to live',
  )
  t.equal(removalPolicyOf(report('1000', 'noeviction')), null)
  t.equal(removalPolicyOf(report('0', 'allkeys-lru')), null)
  t.equal(removalPolicyOf('# Memory\r\nused_memory:1000\r\n'), undefined)
})

t.test('one server of a cluster that removes keys is enough', async (t) => {
  const { watch, seen } = open(t, [[report('1000', 'noeviction'), report('1000', 'allkeys-lfu')]])
  await watch.read()
  t.same([watch.policy, seen], ['allkeys-lfu', ['allkeys-lfu']])
})

t.test('only changes are reported, and a failed read changes nothing', async (t) => {
  const { watch, seen } = open(t, [
    null,
    [report('0', 'noeviction')],
    [report('0', 'noeviction')],
    null,
    [report('9', 'allkeys-lru')],
    ['# Memory\r\n'],
    [report('9', 'noeviction')],
  ])
  t.equal(watch.policy, undefined)
  for (let at = 0; at < 7; at += 1) await watch.read()
  t.same([watch.policy, seen], [null, [null, 'allkeys-lru', null]])
})

function open(t: { teardown: (end: () => void) => void }, answers: (readonly string[] | null)[]) {
  const seen: (string | null)[] = []
  const watch = new RemovalWatch({
    readReports: async () => answers.shift() ?? null,
    onChange: (policy) => void seen.push(policy),
  })
  t.teardown(() => watch.close())
  return { watch, seen }
}
