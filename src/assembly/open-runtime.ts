import { build } from './build.ts'
import { buildDryRun, buildGateway } from '../gateway.ts'
import { respondToQuestion } from '../pipeline/explain-response.ts'
import { createExplain } from '../pipeline/explain.ts'
import type { BuildOptions, Runtime } from './runtime.ts'

/** Builds a runtime and its request handlers. @throws ConfigError that names every problem of every file */
export async function openRuntime(options: BuildOptions): Promise<Runtime> {
  const dependencies = await build(options)
  const { app, handle, upgrades } = buildGateway(dependencies.gateway)
  const explain = createExplain(dependencies.gateway, buildDryRun)
  const close = async () => {
    await app.close()
    await dependencies.close()
  }
  try {
    await app.ready()
  } catch (error) {
    // Two prefixes may be equal, or a prefix may be a route of the API.
    await close()
    throw error
  }
  return {
    dependencies,
    handle,
    upgrades,
    explain: (question) => respondToQuestion(explain, question),
    close,
  }
}
