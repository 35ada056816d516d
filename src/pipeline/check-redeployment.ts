import { redeployedModels, requireShown } from '../policy/validation/deployed-models.ts'
import { checkNamespaces, haveOneFamily } from '../policy/validation/model-namespaces.ts'
import type { AskEngine } from '../request/engine-request.ts'
import type { MaybePromise } from '../request/maybe-promise.ts'
import { callerHeadersOf } from './caller-headers.ts'
import type { DecidedContext, ReceivedRequest } from './context.ts'
import type { Dependencies } from './dependencies.ts'
import { enforce } from './enforcement-mode.ts'

/**
 * Checks the namespaces of the models that a request deploys again. The request does not contain them, so they are read after the
 * decision. If the engine decides instead of the gateway, it also decides what the caller may read. A refusal must not contain facts
 * about models that the engine does not show to the caller.
 */
export function checkRedeployment(
  dependencies: Dependencies,
  context: DecidedContext,
  request: ReceivedRequest,
): MaybePromise<void> {
  const { engine, accessRequest } = context
  const families = engine.groupFamilies()
  if (engine.ask === null || haveOneFamily(families)) return undefined
  const isDecidedHere = engine.authorization === 'enforce'
  const ask = isDecidedHere ? engine.ask : createAskAsCaller(dependencies, context, request)
  const { params, body, checkDeadline } = accessRequest
  const { deploymentBody: limitBytes } = dependencies.config.limits
  const redeployment = { deploymentId: params['id'] ?? '', body, limitBytes, checkDeadline }
  return enforce(dependencies, engine.validation, context, async () => {
    // First, so that a caller without permission reserves no memory.
    if (!isDecidedHere) await requireShown(ask, redeployment.deploymentId)
    await withMemory(dependencies, limitBytes, async () => {
      for await (const model of redeployedModels(ask, redeployment))
        await checkNamespaces([model], families, checkDeadline)
    })
  })
}

/** Returns a function that reads from the engine with the caller's credentials. */
function createAskAsCaller(
  dependencies: Dependencies,
  context: DecidedContext,
  request: ReceivedRequest,
): AskEngine {
  const { upstream } = context.engine
  const user = context.principal.userId
  const sent = Object.entries(callerHeadersOf(dependencies, context, request))
  // The reads have no body, and their responses have other types than the response to the request.
  const headers = {
    ...Object.fromEntries(sent.filter(([name]) => !name.startsWith('content-'))),
    accept: 'application/json',
  }
  return ({ method, path, limitBytes }) =>
    upstream.fetch({ method, path, headers, body: null, retry: 'always', user }, limitBytes)
}

/**
 * Reserves memory during some work, as for the body of a request.
 * @throws GatewayError GW_OVERLOADED if there is not enough memory
 */
async function withMemory(
  { pressure }: Pick<Dependencies, 'pressure'>,
  bytes: number,
  work: () => Promise<void>,
): Promise<void> {
  const refusal = pressure.reserve(bytes)
  if (refusal !== null) throw refusal
  try {
    await work()
  } finally {
    pressure.release(bytes)
  }
}
