import t from 'tap'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { asksOf } from '../../sandbox/asks.ts'
import { keyed, openKeyed } from '../../support/keyed.ts'

/** Six of the nineteen operations that the sandbox answers. Each of them can change something: a decision may count its evaluations. */
const MARKED = [
  'POST /process-definition/key/{key}/submit-form',
  'POST /decision-definition/{id}/evaluate',
  'POST /execution/{id}/signal',
  'POST /signal',
  'POST /migration/executeAsync',
  'POST /migration/execute',
]

t.test(
  'an operation with an idempotency key is executed once, and its response is replayed',
  { skip: redisSkip },
  async (t) => {
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const { ask, engine } = await openKeyed(t, redis.url)
    const asks = await asksOf(engine.base)
    for (const name of MARKED) {
      const { path = '', body } = asks[name] ?? {}
      const isIt = ({ url }: { readonly url: string }) => decodeURIComponent(url).endsWith(path)
      const key = name.replace(/\W/g, '-')
      const first = await ask('demo', `POST ${path}`, keyed(key, body))
      t.ok(first.status < 300, `${name}: ${first.status}`)
      t.equal(first.forwarded.filter(isIt).length, 1, name)
      const again = await ask('demo', `POST ${path}`, keyed(key, body))
      t.same([again.status, again.bytes], [first.status, first.bytes], name)
      t.equal(again.headers['idempotency-replayed'], 'true', name)
      t.equal(again.forwarded.filter(isIt).length, 0, name)
    }
  },
)
