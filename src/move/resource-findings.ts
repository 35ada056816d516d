import { pathText } from '../operations/published/declared-names.ts'
import { operatorText, messageOf } from '../errors.ts'
import {
  classNamesIn,
  ENGINE_FAMILIES,
  type EngineFamily,
  familyOfClass,
  familyOfNamespace,
} from '../operations/published/engine-families.ts'
import {
  askForResource,
  type DeployedResource,
  readDeployedResources,
} from '../policy/validation/deployed-models.ts'
import { isModelName } from '../policy/validation/multipart.ts'
import { readModelNames } from '../policy/validation/model-names.ts'
import type { AskEngine } from '../request/engine-request.ts'
import { jsonIn, jsonOf, okBodyOf } from '../request/engine-request.ts'
import { bodyValue } from '../request/body.ts'
import { stringIn } from '../request/value.ts'
import type { MoveFinding } from './move-finding.ts'

/** The limits of one scan. */
export const SCAN_LIMITS = {
  /** The newest deployments are read first. */
  deployments: 5000,
  resources: 10_000,
  /** The bytes of all resources together. */
  bytes: 512 * 1024 ** 2,
  /** A larger resource is not read. The gateway reads no larger response of an engine for its decisions either. */
  resourceBytes: 16 * 1024 ** 2,
  /** The findings that are listed. */
  findings: 200,
} as const

const PAGE = 200
const MAX_LIST_BYTES = 4 * 1024 ** 2
const MAX_NAME_CHARS = 200

export interface ResourceScan {
  readonly ask: AskEngine
  /** The families of the groups. Null for a family that is not known. */
  readonly families: readonly (EngineFamily | null)[]
  /** Returns false if the time of the scan is over. */
  readonly hasTime: () => boolean
  /** Called after each resource with the number of resources that were read. */
  readonly onProgress: (what: string, count: number) => void
  /** Default: `SCAN_LIMITS`. */
  readonly limits?: Readonly<Record<keyof typeof SCAN_LIMITS, number>>
}

interface Resource extends DeployedResource {
  readonly deploymentId: string
}

/** Searches deployed resources for names that only some of the groups can resolve. The oldest resources are missing if a limit is reached. */
export async function findInResources(scan: ResourceScan): Promise<readonly MoveFinding[]> {
  const findings = new ResourceFindings(scan)
  try {
    if (!(await seesAllDeployments(scan.ask)))
      findings.end('the account of the gateway needs a record with READ on resource type 9 and id *')
    for await (const resource of resourcesOf(scan, findings)) await findings.read(resource)
  } catch (error) {
    findings.end(`the engine did not show its deployments: ${messageOf(error)}`)
  }
  return findings.all()
}

const READ_DEPLOYMENTS = '/authorization/check?permissionName=READ&resourceName=Deployment&resourceType=9'

/** Returns false if the engine hides deployments from the account. An engine without authentication does not respond with 200. */
async function seesAllDeployments(ask: AskEngine): Promise<boolean> {
  const { status, body } = await ask({ method: 'GET', path: READ_DEPLOYMENTS, limitBytes: MAX_LIST_BYTES })
  return status !== 200 || bodyValue(jsonIn(body), 'authorized') !== false
}

async function* resourcesOf(
  { ask, hasTime, limits = SCAN_LIMITS }: ResourceScan,
  findings: ResourceFindings,
): AsyncGenerator<Resource> {
  let count = 0
  for await (const deploymentId of deploymentsOf(ask)) {
    if (count >= limits.deployments) return findings.end(`the limit of ${limits.deployments} deployments`)
    count += 1
    for (const resource of (await readDeployedResources(ask, deploymentId)) ?? []) {
      if (!hasTime()) return findings.end('the time limit')
      if (findings.isFull) return findings.end('the limit for resources or bytes')
      yield { ...resource, deploymentId }
    }
  }
  return undefined
}

/** Yields the ids of all deployments, the newest first. */
async function* deploymentsOf(ask: AskEngine): AsyncGenerator<string> {
  for (let first = 0, isLast = false; !isLast; first += PAGE) {
    const path = `/deployment?sortBy=deploymentTime&sortOrder=desc&firstResult=${first}&maxResults=${PAGE}`
    const page = await readList(ask, path)
    for (const deployment of page) yield stringIn(deployment, 'id') ?? ''
    isLast = page.length < PAGE
  }
}

async function readList(ask: AskEngine, path: string): Promise<readonly unknown[]> {
  const list = jsonOf(await ask({ method: 'GET', path, limitBytes: MAX_LIST_BYTES }), pathText(path))
  return Array.isArray(list) ? list : []
}

/** A finding and the deployments in which it was found. */
interface CountedFinding extends Omit<MoveFinding, 'found'> {
  readonly what: string
  readonly newest: string
  deployments: number
}

class ResourceFindings {
  readonly #scan: ResourceScan
  readonly #limits: NonNullable<ResourceScan['limits']>
  readonly #byWhat = new Map<string, CountedFinding>()
  #resources = 0
  #bytes = 0
  #omitted = 0
  #unread = 0
  /** Why the scan ended before its end. */
  #ended: string | null = null

  constructor(scan: ResourceScan) {
    this.#scan = scan
    this.#limits = scan.limits ?? SCAN_LIMITS
  }

  get isFull(): boolean {
    return this.#resources >= this.#limits.resources || this.#bytes >= this.#limits.bytes
  }

  end(why: string): void {
    this.#ended = why
  }

  async read(resource: Resource): Promise<void> {
    const { deploymentId, id, name } = resource
    const { resourceBytes: limitBytes } = this.#limits
    this.#resources += 1
    try {
      const response = await askForResource(this.#scan.ask, deploymentId, { id, limitBytes })
      if (response.status === 404) return
      const content = okBodyOf(response, operatorText`a deployed resource`)
      this.#bytes += content.length
      await (isModelName(name) ? this.#readModel(resource, content) : this.#readText(resource, content))
    } catch {
      this.#unread += 1
    }
    this.#scan.onProgress('resources', this.#resources)
  }

  async #readModel(resource: Resource, content: Buffer): Promise<void> {
    const { namespaces, classes, isRead } = await readModelNames(content)
    for (const namespace of namespaces) this.#addNamespace(resource, namespace)
    for (const { className, elementId } of classes) this.#addClass(resource, className, elementId)
    if (isRead) return
    this.#add(resource, {
      severity: 'warning',
      subject: 'model',
      what: `${resource.name} cannot be read as a model`,
      action: 'Search this model by hand for namespaces and class names of one family.',
    })
    this.#readText(resource, content)
  }

  #readText(resource: Resource, content: Buffer): void {
    const text = content.toString('latin1')
    for (const { namespace } of ENGINE_FAMILIES)
      if (namespace !== null && isModelName(resource.name) && text.includes(namespace))
        this.#addNamespace(resource, namespace)
    for (const className of new Set(classNamesIn(text))) this.#addClass(resource, className, null)
  }

  #addNamespace(resource: Resource, namespace: string): void {
    const owner = familyOfNamespace(namespace)
    if (!this.#isForeign(owner)) return
    this.#add(resource, {
      severity: 'error',
      subject: 'namespace',
      what: `${resource.name} has the namespace ${namespace}, which only ${owner?.name} reads`,
      action:
        'Deploy the model with the namespace http://camunda.org/schema/1.0/bpmn, and migrate or end instances of this version.',
    })
  }

  #addClass(resource: Resource, className: string, elementId: string | null): void {
    const owner = familyOfClass(className)
    if (!this.#isForeign(owner)) return
    const place = elementId === null ? resource.name : `${resource.name}, element ${elementId}`
    this.#add(resource, {
      severity: 'error',
      subject: 'class-name',
      what: `${place} names ${className}, which only ${owner?.name} has`,
      action: 'Replace the name in the script, expression or attribute, and deploy the resource again.',
    })
  }

  /** Returns whether some group may be of another family than the owner of a name. */
  #isForeign(owner: EngineFamily | null): boolean {
    return this.#scan.families.some((family) => family === null || family !== owner)
  }

  #add(
    { deploymentId }: Resource,
    { what, ...finding }: Omit<CountedFinding, 'newest' | 'deployments' | 'group'>,
  ): void {
    const shown = what.slice(0, MAX_NAME_CHARS)
    const known = this.#byWhat.get(shown)
    if (known !== undefined) known.deployments += 1
    else if (this.#byWhat.size >= this.#limits.findings) this.#omitted += 1
    else
      this.#byWhat.set(shown, { ...finding, group: null, what: shown, newest: deploymentId, deployments: 1 })
  }

  all(): readonly MoveFinding[] {
    return [
      ...[...this.#byWhat.values()].map(({ what, newest, deployments, ...finding }) => ({
        ...finding,
        found: `${what} (${deployments === 1 ? 'deployment' : `${deployments} times, last in deployment`} ${newest})`,
      })),
      ...this.#gaps(),
      {
        severity: 'info',
        subject: 'class-name',
        group: null,
        found: `${this.#resources} deployed resources with ${this.#bytes} bytes were searched`,
        action: null,
      } as const,
    ]
  }

  #gaps(): readonly MoveFinding[] {
    const gap = { severity: 'warning', subject: 'incomplete', group: null } as const
    return [
      ...(this.#ended === null
        ? []
        : [
            {
              ...gap,
              found: `the search in deployed resources is incomplete: ${this.#ended}`,
              action:
                'Search the other resources by hand, or repeat the command with a longer --timeout or another account.',
            },
          ]),
      ...(this.#unread === 0
        ? []
        : [
            {
              ...gap,
              found: `${this.#unread} deployed resources could not be read, or have more than ${this.#limits.resourceBytes} bytes`,
              action: 'Search these resources by hand.',
            },
          ]),
      ...(this.#omitted === 0
        ? []
        : [
            {
              ...gap,
              found: `${this.#omitted} further findings are not listed`,
              action: 'Resolve the listed findings, and repeat the command.',
            },
          ]),
    ]
  }
}
