import t from 'tap'
import { openRuntime } from '../../src/assembly/open-runtime.ts'
import type { BuildOptions } from '../../src/assembly/runtime.ts'
import { createLogger } from '../../src/log.ts'
import { openFirstRuntime } from '../../src/server/replace-runtime.ts'
import { configOf } from '../support/open-gateway.ts'

t.test('a replaced runtime has the runtime in force as its successor until its last response', async (t) => {
  const config = configOf(t, 'http://node', { settings: { health: { probe: false } } })
  const log = createLogger({ level: 'silent', destination: { write: () => undefined } })
  const successors: BuildOptions['successor'][] = []
  const lastResponse = Promise.withResolvers<void>()
  let isDraining = false
  const replacement = await openFirstRuntime({
    config,
    open: (options) => {
      successors.push(options.successor)
      return openRuntime({ ...options, log, version: 'test' })
    },
    serve: () => lastResponse.promise,
    isDraining: () => isDraining,
    log,
  })
  const first = replacement.current()
  t.equal(successors[0]?.(), null)

  isDraining = true
  await t.rejects(replacement.replace(config))
  t.equal(successors[0]?.(), null, 'a runtime that was refused is no successor')
  t.equal(replacement.current(), first)

  isDraining = false
  await replacement.replace(config)
  const second = replacement.current()
  t.not(second, first)
  t.equal(successors[0]?.(), second.dependencies)
  t.equal(successors.at(-1)?.(), null)
  t.equal(second.dependencies.handover.cache, first.dependencies.handover.cache)
  lastResponse.resolve()
  await replacement.close()
})
