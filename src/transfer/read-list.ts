import { ownText, operatorText } from '../errors.ts'
import { type AskEngine, type EngineResponse, jsonIn, okBodyOf } from '../request/engine-request.ts'
import { isRecord } from '../request/value.ts'

/** An expected failure of an export or an import. The message is one line for the console. */
export class TransferError extends Error {}

export interface EngineReading {
  readonly ask: AskEngine
  /** The number of items in a page, at least 2. */
  readonly pageSize: number
  /** Called after each page with the number of items that were read. */
  readonly onProgress: (what: string, count: number) => void
}

export interface EngineList<Item> {
  /** `/user?memberOfGroup=clerks` */
  readonly path: string
  /** The name in messages: `users`. */
  readonly what: string
  /** Returns the items in the body of a page. @throws Error if it is not a list of them */
  readonly itemsIn: (body: Buffer) => readonly Item[]
}

const MAX_PAGE_BYTES = 16 * 1024 ** 2
/** Bounds the memory: an export of 100,000 records takes 450 MB. The gateway itself reads about as many records from an engine. */
const MAX_ITEMS = 300_000
/** Attempts to read a list that other clients change. */
const MAX_ATTEMPTS = 3

/**
 * Reads a list page by page. The engine orders it by id. Each page begins with the last item of the page before: if another client
 * has added or removed an item in between, this item is at another place, an item could be missing, and the list is read again.
 * @throws TransferError if the list changes each time, or has too many items
 */
export async function readEngineList<Item extends { readonly id: string }>(
  reading: EngineReading,
  list: EngineList<Item>,
): Promise<readonly Item[]> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const items = await readOnce(reading, list)
    if (items !== null) return items
  }
  throw new TransferError(
    `the ${list.what} of the engine have changed during each of ${MAX_ATTEMPTS} reads: repeat the command when no client changes them`,
  )
}

/** Returns null if the list has changed between two pages. */
async function readOnce<Item extends { readonly id: string }>(
  { ask, pageSize, onProgress }: EngineReading,
  { path, what, itemsIn }: EngineList<Item>,
): Promise<readonly Item[] | null> {
  const byId = new Map<string, Item>()
  let last: Item | null = null
  for (;;) {
    const first = Math.max(0, byId.size - 1)
    const question = `${path}${path.includes('?') ? '&' : '?'}firstResult=${first}&maxResults=${pageSize}`
    const response = await ask({ method: 'GET', path: question, limitBytes: MAX_PAGE_BYTES })
    const page = itemsIn(bodyOf(response, path))
    if (last !== null && page[0]?.id !== last.id) return null
    const added: readonly Item[] = last === null ? page : page.slice(1)
    for (const item of added) {
      if (byId.has(item.id)) return null
      byId.set(item.id, item)
    }
    if (byId.size > MAX_ITEMS) throw new TransferError(`the engine has more than ${MAX_ITEMS} ${what}`)
    onProgress(what, byId.size)
    last = added.at(-1) ?? last
    if (page.length < pageSize) return [...byId.values()]
  }
}

function bodyOf(response: EngineResponse, path: string): Buffer {
  if (response.status === 401)
    throw new TransferError(
      `the engine has responded to ${path} with status 401: check the account and its password`,
    )
  return okBodyOf(response, ownText(path))
}

/**
 * Returns a function that sends requests until a deadline.
 * @param now monotonic milliseconds
 */
export function withDeadline(ask: AskEngine, withinMs: number, now = () => performance.now()): AskEngine {
  const endsAt = now() + withinMs
  return async (request) => {
    const leftMs = Math.floor(endsAt - now())
    if (leftMs <= 0) throw new TransferError(`not finished within ${withinMs / 1000} s: set --timeout`)
    return ask({ ...request, headersMs: Math.min(leftMs, MAX_HEADERS_MS) })
  }
}

const MAX_HEADERS_MS = 60_000

/** The lists whose items an incomplete account does not see, with the numbers of their resources. */
const READABLE = { Authorization: 4, User: 1, Group: 2, Tenant: 11 } as const

/**
 * Checks that the account of the requests may read everything. An engine hides the other items without an error, and a revocation
 * could be missing in an export.
 * @throws TransferError if it may not
 */
export async function checkReadable(ask: AskEngine): Promise<void> {
  for (const [name, type] of Object.entries(READABLE)) {
    const path = `/authorization/check?permissionName=READ&resourceName=${name}&resourceType=${type}`
    const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_PAGE_BYTES })
    // An engine without authentication knows no caller, and hides nothing.
    if (status === 401 && type === READABLE.Authorization) return
    const response = status === 200 ? jsonIn(body, operatorText`/authorization/check`) : null
    if (!isRecord(response) || response['authorized'] !== true)
      throw new TransferError(
        `the account may not read every ${name}: it needs a record with READ on resource type ${type} and id *`,
      )
  }
}
