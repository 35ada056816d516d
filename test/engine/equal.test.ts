import { test } from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { type Answer, exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { nineteen } from './nineteen.ts'
import { normalize } from './normalize.ts'
import { seed } from './seed.ts'

void test('the nineteen operations give the same responses through the gateway as directly', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  const gateway = await startGateway(engine.base)
  t.teardown(() => gateway.drain())
  for (const name of ['', '/engine/default', '/engine/second']) {
    const direct = engine.base + name
    const [first, second] = [await seed(direct), await seed(direct)]
    for (const scenario of nineteen) {
      const one = await exchange(direct, scenario.request(first))
      const other = await exchange(gateway.base + name, scenario.request(second), gateway.headers)
      t.same(
        seenOf(other, scenario.volatile),
        seenOf(one, scenario.volatile),
        `${name} ${scenario.operation}`,
      )
    }
  }
})

function seenOf({ status, headers, body }: Answer, volatile: readonly string[]) {
  const names = ['content-type', 'content-disposition', 'cache-control']
  return { status, headers: names.map((name) => headers.get(name)), body: normalize(body, volatile) }
}
