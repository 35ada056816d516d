import { basename, dirname, relative } from 'node:path'
import {
  commonTokens,
  declareFactoryPlugin,
  PluginKind,
  tokens,
  type Injector,
  type PluginContext,
} from '@stryker-mutator/api/plugin'
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core'
import type { MutantRunOptions, MutantRunResult } from '@stryker-mutator/api/test-runner'
import { TapTestRunner } from '@stryker-mutator/tap-runner'

/** Runs the test files nearest to the mutant first. A run ends at the first failure, which is mostly in one of these. */
class NearestTapRunner extends TapTestRunner {
  override mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { testFilter, sandboxFileName } = options
    if (testFilter === undefined) return super.mutantRun(options)
    const source = relative(process.cwd(), sandboxFileName)
    const nearest = testFilter.toSorted((one, other) => nearness(other, source) - nearness(one, source))
    return super.mutantRun({ ...options, testFilter: nearest })
  }
}

/** How many folders of the mirrored tree they share; the file of the same name is the nearest. */
function nearness(test: string, source: string): number {
  if (basename(test, '.test.ts') === basename(source, '.ts')) return Infinity
  const folders = dirname(source).split('/').slice(1)
  const apart = dirname(test)
    .split('/')
    .slice(1)
    .findIndex((folder, at) => folder !== folders[at])
  return apart < 0 ? dirname(test).split('/').length - 1 : apart
}

function createNearestTapRunner(injector: Injector<PluginContext>): TapTestRunner {
  return injector
    .provideValue('globalNamespace', INSTRUMENTER_CONSTANTS.NAMESPACE)
    .injectClass(NearestTapRunner)
}
createNearestTapRunner.inject = tokens(commonTokens.injector)

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'nearest-tap', createNearestTapRunner),
]
