import { TLSSocket } from 'node:tls'
import { build } from './build.ts'
import { buildDryRun, buildGateway } from '../gateway.ts'
import { answerQuestion } from '../pipeline/answer-question.ts'
import { createExplain } from '../pipeline/explain.ts'
import { authenticatePassthrough } from '../pipeline/match.ts'
import { createHandlers } from '../handlers/dispatch.ts'
import { registerPassthrough } from '../proxy/passthrough.ts'
import { createClientAddress } from '../request/client-address.ts'
import type { PassthroughClient, ProxiedRequest } from '../proxy/passthrough.ts'
import type { BuildOptions, Runtime } from './runtime.ts'

/** @throws ConfigError that names every problem of every file */
export async function openRuntime(options: BuildOptions): Promise<Runtime> {
  const { config } = options
  const runtimeParts = await build(options)
  const app = buildGateway(runtimeParts.parts, createHandlers(runtimeParts.parts))
  registerPassthrough(app, {
    prefixes: config.passthrough,
    authenticate: authenticatePassthrough(runtimeParts.parts),
    clientOf,
    traceContextOf: ({ context: { span } }) => span?.headers() ?? {},
    bodyBytes: config.limits.deploymentBody,
    connections: config.limits.connections,
    timeouts: {
      connectMs: config.timeouts.connect,
      headersMs: config.timeouts.headers,
      bodyMs: config.timeouts.body,
    },
  })
  const explain = createExplain(runtimeParts.parts, buildDryRun)
  const close = async () => {
    await app.close()
    await runtimeParts.close()
  }
  try {
    await app.ready()
  } catch (error) {
    // Two prefixes may be one, or one of the API's.
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

const peerOf = createClientAddress([])

/** Only of a proxy that is trusted to name the client is it believed by which scheme the client came. */
function clientOf({ context: { address }, raw }: ProxiedRequest): PassthroughClient {
  const isNamed = address !== peerOf(raw)
  const isTls = isNamed ? raw.headers['x-forwarded-proto'] === 'https' : raw.socket instanceof TLSSocket
  return { address, scheme: isTls ? 'https' : 'http' }
}
