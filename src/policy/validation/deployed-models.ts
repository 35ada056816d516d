import { pathText } from '../../operations/published/declared-names.ts'
import { GatewayError, jsonRefusalOf, operatorText } from '../../errors.ts'
import { bodyTexts } from '../../request/body.ts'
import {
  type AskEngine,
  type EngineResponse,
  invalidResponse,
  jsonIn,
  jsonOf,
  okBodyOf,
} from '../../request/engine-request.ts'
import { stringIn } from '../../request/value.ts'
import { isModelName } from './multipart.ts'

/** A resource of a deployment. Its content never changes. */
export interface DeployedResource {
  readonly id: string
  readonly name: string
}

const MAX_LIST_BYTES = 4 * 1024 ** 2
/** The models of one deployment. More cannot be checked within the time of a request. */
const MAX_MODELS = 1000

/** Returns the resources of a deployment. Null if the response is 404. @throws GatewayError if the engine does not show them */
export async function readDeployedResources(
  ask: AskEngine,
  deploymentId: string,
): Promise<readonly DeployedResource[] | null> {
  const path = resourcesPathOf(deploymentId)
  const response = await ask({ method: 'GET', path, limitBytes: MAX_LIST_BYTES })
  if (response.status === 404) return null
  const list = jsonOf(response, pathText(path))
  if (!Array.isArray(list)) throw invalidResponse(operatorText`The resources of a deployment are not a list`)
  return list.map((item: unknown) => {
    const [id, name] = [stringIn(item, 'id'), stringIn(item, 'name')]
    if (id === null || name === null)
      throw invalidResponse(operatorText`A resource of a deployment has no id or no name`)
    return { id, name }
  })
}

/** Reads the content of a resource. */
export function askForResource(
  ask: AskEngine,
  deploymentId: string,
  { id, limitBytes }: Pick<DeployedResource, 'id'> & { readonly limitBytes: number },
): Promise<EngineResponse> {
  const path = `${resourcesPathOf(deploymentId)}/${encodeURIComponent(id)}/data`
  return ask({ method: 'GET', path, limitBytes })
}

function resourcesPathOf(deploymentId: string): string {
  return `/deployment/${encodeURIComponent(deploymentId)}/resources`
}

/**
 * Lets the engine decide whether a caller may read a deployment. If not, its 404 has the same form as for a redeployment.
 * @throws EngineRefusal the engine's 404
 * @throws GatewayError GW_FOREIGN_NAMESPACE if the 404 is not the engine's
 */
export function requireShown(ask: AskEngine, deploymentId: string): Promise<void> {
  return orUnreadable(requireFound(ask, `/deployment/${encodeURIComponent(deploymentId)}`))
}

async function requireFound(ask: AskEngine, path: string): Promise<void> {
  const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_LIST_BYTES })
  if (status === 404)
    throw jsonRefusalOf(
      404,
      jsonIn(body, pathText(path)),
      operatorText`the engine does not show the deployment to the caller`,
    )
}

export interface Redeployment {
  /** The deployment whose resources are deployed again. */
  readonly deploymentId: string
  /** The body of the request. It may select resources by id and name. */
  readonly body: unknown
  /** The bytes of all models together. */
  readonly limitBytes: number
  readonly checkDeadline: (() => void) | undefined
}

/**
 * Yields the models that a redeployment deploys, one at a time.
 * @throws GatewayError GW_FOREIGN_NAMESPACE if a model cannot be read; any other error of the engine or of `checkDeadline`
 */
export async function* redeployedModels(
  ask: AskEngine,
  { deploymentId, body, limitBytes, checkDeadline }: Redeployment,
): AsyncGenerator<Buffer> {
  // A node that starts may respond with 404 for a deployment that exists.
  const resources = await orUnreadable(readDeployedResources(ask, deploymentId))
  if (resources === null) throw unreadable()
  const models = selectedOf(resources, body)
  if (models.length > MAX_MODELS) throw unreadable()
  let leftBytes = limitBytes
  for (const { id } of models) {
    checkDeadline?.()
    const content = await orUnreadable(
      askForResource(ask, deploymentId, { id, limitBytes: leftBytes }).then((response) =>
        okBodyOf(response, operatorText`a deployed model`),
      ),
    )
    leftBytes -= content.length
    yield content
  }
}

/** Without a selection, all resources are deployed. */
function selectedOf(resources: readonly DeployedResource[], body: unknown): readonly DeployedResource[] {
  const ids = new Set(bodyTexts(body, 'resourceIds'))
  const names = new Set(bodyTexts(body, 'resourceNames'))
  return resources.filter(
    ({ id, name }) => isModelName(name) && (ids.size + names.size === 0 || ids.has(id) || names.has(name)),
  )
}

/** A response of another form, or one that is too long, hides the namespaces of the models. */
async function orUnreadable<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'GW_UPSTREAM_INVALID') throw unreadable(error)
    throw error
  }
}

function unreadable(cause?: unknown): GatewayError {
  return new GatewayError('GW_FOREIGN_NAMESPACE', {
    message: operatorText`The models of the deployment cannot be read, so their namespaces cannot be checked for both groups of nodes`,
    cause,
  })
}
