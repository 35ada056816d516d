import type { ServerResponse } from 'node:http'
import t from 'tap'
import { createLogger } from '../../src/log.ts'
import { createListener } from '../../src/server/listener.ts'
import { until } from '../support/cache-harness.ts'
import { configOf } from '../support/open-gateway.ts'

t.test('a replaced handler ends with its last response, and not before', async (t) => {
  const config = configOf(t, 'http://engine.invalid')
  const held: ServerResponse[] = []
  const listener = createListener(config, {
    handle: (_request, response) => void held.push(response),
    metrics: { refusal: () => {} },
    log: createLogger({ level: 'error', destination: { write: () => undefined } }),
  })
  const origin = await listener.listen(config.listen)
  t.teardown(() => listener.close(Promise.resolve()))
  const textAt = async () => (await fetch(origin)).text()
  const answers = [textAt(), textAt()]
  await until(() => held.length === 2)
  let isOver = false
  const over = listener.serve((_request, response) => response.end('new')).then(() => (isOver = true))
  t.equal(await textAt(), 'new')
  held.shift()?.end('old')
  await Promise.race(answers)
  await until(() => listener.load().busy === 1)
  t.equal(isOver, false)
  held.shift()?.end('old')
  t.same(await Promise.all(answers), ['old', 'old'])
  await over
  t.same(listener.load().busy, 0)
  await listener.serve((_request, response) => response.end('newest'))
  t.equal(await textAt(), 'newest', 'with nothing under way it is over at once')
})
