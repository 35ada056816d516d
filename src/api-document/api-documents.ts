import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { PUBLISHED_SOURCES } from '../operations/published/facts.ts'
import type { Release } from '../operations/published/releases.ts'
import type { Operation } from '../operations/table.ts'
import { type ApiDescription, ApiDocumentWriter } from './document-writer.ts'
import { apiPageOf } from './api-page.ts'

/** An engine whose API is described. */
export interface DescribedEngine extends Pick<ApiDescription, 'release' | 'schemes'> {
  readonly name: string
  readonly release: Release | null
}

export interface ApiDocumentsOptions extends Pick<ApiDescription, 'basePath' | 'hasIdempotencyKeys'> {
  readonly operations: readonly Operation[]
  readonly engines: readonly DescribedEngine[]
}

/** The operations of a document. */
export interface DescribedOperations {
  readonly engine: string
  /** Whether the path of the request names the engine. The document then has the same path. */
  readonly isEngineNamed: boolean
  readonly ids: ReadonlySet<string>
  /** Whether they are all operations of the engine, whoever the caller is. */
  readonly of: 'caller' | 'all'
  /** Equal for equal sets of operations. */
  readonly key: string
}

export interface ApiText {
  readonly body: Buffer
  readonly etag: string
}

/** The largest total length of documents and pages that are kept. */
const MAX_BYTES = 32 * 1024 * 1024
/** Number of operations and schemas that are described in one turn of the event loop. */
const A_TURN = 60

/** Writes the documents and pages of all engines, and keeps them for callers with the same operations. */
export class ApiDocuments {
  readonly #options: ApiDocumentsOptions
  readonly #writers = new Map<string, ApiDocumentWriter>()
  readonly #texts = new LRUCache<string, ApiText>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }) => body.length,
  })

  constructor(options: ApiDocumentsOptions) {
    this.#options = options
  }

  /** Returns all operations that an engine has, as the operations of a document. */
  allOf(engine: string): Pick<DescribedOperations, 'ids' | 'of' | 'key'> {
    const release = this.#engineOf(engine)?.release ?? null
    const ids = this.#options.operations
      .filter(({ only }) => release === null || only?.includes(release) !== false)
      .map(({ id }) => id)
    return { ids: new Set(ids), of: 'all', key: 'all' }
  }

  async document(described: DescribedOperations): Promise<ApiText> {
    return this.#textOf('json', described, (writer) => writer.write(described.ids, described.of))
  }

  async page(described: DescribedOperations): Promise<ApiText> {
    return this.#textOf('html', described, (writer) => apiPageOf(writer.write(described.ids, described.of)))
  }

  async #textOf(
    form: 'json' | 'html',
    { engine, isEngineNamed, ids, key }: DescribedOperations,
    write: (writer: ApiDocumentWriter) => string,
  ): Promise<ApiText> {
    const name = JSON.stringify([form, engine, isEngineNamed, key])
    const known = this.#texts.get(name)
    if (known !== undefined) return known
    const writer = this.#writerOf(engine, isEngineNamed)
    // The first document of an engine describes each operation. Other requests are served between them.
    for (const some of inTurns([...ids])) {
      writer.objectsOf(new Set(some))
      await setImmediate()
    }
    const body = Buffer.from(write(writer))
    const text = { body, etag: `"${hash('sha256', body, 'base64url')}"` }
    this.#texts.set(name, text)
    return text
  }

  #writerOf(name: string, isEngineNamed: boolean): ApiDocumentWriter {
    const key = JSON.stringify([name, isEngineNamed])
    const known = this.#writers.get(key)
    if (known !== undefined) return known
    const { operations, basePath, hasIdempotencyKeys } = this.#options
    const { release = null, schemes = ['basic'] } = this.#engineOf(name) ?? {}
    const writer = new ApiDocumentWriter(operations, {
      title: `Engine ${name}`,
      version: release ?? PUBLISHED_SOURCES.at(-1)?.version ?? '',
      basePath: isEngineNamed ? `${basePath}/engine/${encodeURIComponent(name)}` : basePath,
      schemes,
      release,
      hasIdempotencyKeys,
    })
    this.#writers.set(key, writer)
    return writer
  }

  #engineOf(name: string): DescribedEngine | undefined {
    return this.#options.engines.find((one) => one.name === name)
  }
}

function* inTurns(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += A_TURN) yield ids.slice(at, at + A_TURN)
}
