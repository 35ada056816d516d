import t from 'tap'
import { build } from '../../src/assembly/build.ts'
import type { BuildOptions } from '../../src/assembly/runtime.ts'
import { withRuntime } from '../../src/cli/with-runtime.ts'
import { loadConfig } from '../../src/config/config.ts'

t.test('the runtime of a command has no features, so it sends no requests of its own', async (t) => {
  const seen: BuildOptions[] = []
  const config = loadConfig(new URL('../../config/gateway.yaml', import.meta.url).pathname)
  const buildAndRecord = (options: BuildOptions) => {
    seen.push(options)
    return build(options)
  }
  t.equal(await withRuntime({ build: buildAndRecord, config }, async () => 'used'), 'used')
  t.same(seen[0]?.features, [])
})
