import { build } from './build.ts'
import { buildDryRun, buildGateway } from '../gateway.ts'
import { answerQuestion } from '../pipeline/answer-question.ts'
import { createExplain } from '../pipeline/explain.ts'
import type { BuildOptions, Runtime } from './runtime.ts'

/** Builds a runtime and its request handlers. @throws ConfigError that names every problem of every file */
export async function openRuntime(options: BuildOptions): Promise<Runtime> {
  const runtimeParts = await build(options)
  const app = buildGateway(runtimeParts.parts)
  const explain = createExplain(runtimeParts.parts, buildDryRun)
  const close = async () => {
    await app.close()
    await runtimeParts.close()
  }
  try {
    await app.ready()
  } catch (error) {
    // Two prefixes may be equal, or a prefix may be a route of the API.
    await close()
    throw error
  }
  return {
    runtimeParts,
    handle: (request, response) => app.routing(request, response),
    explain: (question) => answerQuestion(explain, question),
    close,
  }
}
