/** The content of a cached response: an image, a JSON object with the XML of a definition, or a JSON list of names. */
export type CachedContent = 'diagram' | 'model' | 'names'

/** How long a response is cached and which tags evict it. Only a response with the content is stored. */
export interface CachePolicy {
  readonly seconds: number
  readonly tags: readonly string[]
  readonly content: CachedContent
  /** Whether the response may be served after its time if the engine does not respond. */
  readonly mayBeStale: boolean
}

/** The tag of responses that a deployment, or its deletion, makes stale. */
export const DEPLOYMENT_TAG = 'deployment'

/** The tag of responses that name the topics of external tasks. */
const EXTERNAL_TASK_TAG = 'external-task'

/** The tags of all cached responses. Each response has one of them. */
export const CACHE_TAGS: readonly string[] = [DEPLOYMENT_TAG, EXTERNAL_TASK_TAG]

/** A definition does not change, but it may be deleted through another gateway. */
const DEFINITION_SECONDS = 3600
/** A deployment changes the latest version of a key, so a response by key is stored for a shorter time than a response by id. */
const KEY_SECONDS = 30
/** The names of topics change with every task. */
const NAMES_SECONDS = 2

/** Returns how the response of an operation with this path template is cached. */
export function cachePolicyOf(content: CachedContent, template: string): CachePolicy {
  if (content === 'names') return { seconds: NAMES_SECONDS, tags: [EXTERNAL_TASK_TAG], content, mayBeStale: false }
  const seconds = template.includes('/:key') ? KEY_SECONDS : DEFINITION_SECONDS
  return { seconds, tags: [DEPLOYMENT_TAG], content, mayBeStale: true }
}
