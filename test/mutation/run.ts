import { parseArgs } from 'node:util'
import type { PartialStrykerOptions } from '@stryker-mutator/api/core'
import { Stryker } from '@stryker-mutator/core'
import { sampleOf } from './sample.ts'
import config from './stryker.config.json' with { type: 'json' }

// Changes the code in one place after the other, and reports the faults that no test detects.
//   --sample N    tests about N mutants, chosen by --seed, instead of all
//   --mutate GLOB tests files, or lines as in src/cache/cache.ts:90-120, instead of the whole scope
const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    mutate: { type: 'string', multiple: true },
    concurrency: { type: 'string' },
  },
})

const { mutate: scope = config.mutate, sample, seed, concurrency } = values
const mutate = sample === undefined ? scope : await sampleOf(scope, Number(sample), Number(seed))
const options: PartialStrykerOptions = {
  configFile: 'test/mutation/stryker.config.json',
  mutate,
  // The results of a sample are not stored for later runs, because the next sample has other mutants.
  incremental: sample === undefined,
}
if (concurrency !== undefined) options.concurrency = Number(concurrency)
await new Stryker(options).runMutationTest()
