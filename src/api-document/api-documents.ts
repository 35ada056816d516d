import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { PUBLISHED_SOURCES } from '../operations/published/facts.ts'
import type { Release } from '../operations/published/releases.ts'
import type { Operation } from '../operations/table.ts'
import { apiPageOf } from './api-page.ts'
import { DocumentParts } from './document-parts.ts'
import { type ApiDescription, writeDocument } from './document-writer.ts'
import type { OperationObjectOptions } from './operation-object.ts'

/** An engine whose API is described. */
export interface DescribedEngine extends Pick<ApiDescription, 'schemes'> {
  readonly name: string
  /** Null if the configuration names no release. */
  readonly release: Release | null
}

export interface ApiDocumentsOptions
  extends Pick<ApiDescription, 'basePath'>,
    Pick<OperationObjectOptions, 'hasIdempotencyKeys'> {
  readonly operations: readonly Operation[]
  readonly engines: readonly DescribedEngine[]
}

/** The operations of a document. */
export interface DescribedOperations {
  readonly engine: string
  /** Whether the path of the request names the engine. The document then has the same path. */
  readonly isEngineNamed: boolean
  readonly ids: ReadonlySet<string>
  /** `all`: all operations of the engine. `caller`: the operations that the caller may use. */
  readonly of: 'caller' | 'all'
  /** A key that is the same for equal sets of operations. */
  readonly key: string
}

export interface ApiText {
  readonly body: Buffer
  readonly etag: string
}

/** The largest total length of documents and pages that are kept. */
const MAX_BYTES = 32 * 1024 * 1024

/** Writes the documents and pages of all engines, and keeps them for callers with the same operations. */
export class ApiDocuments {
  readonly #options: ApiDocumentsOptions
  /** Engines with the same release share them. */
  readonly #parts = new Map<Release | null, DocumentParts>()
  readonly #running = new Map<string, Promise<ApiText>>()
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

  /** Describes all operations before the first document is requested. Other work runs between its turns. */
  async prepare(): Promise<void> {
    for (const { release } of this.#options.engines) await this.#partsOf(release).prepare()
  }

  async document(described: DescribedOperations): Promise<ApiText> {
    return this.#textOf('json', described)
  }

  async page(described: DescribedOperations): Promise<ApiText> {
    return this.#textOf('html', described)
  }

  /** Equal requests that arrive at the same time share one text. */
  async #textOf(form: 'json' | 'html', described: DescribedOperations): Promise<ApiText> {
    const { engine, isEngineNamed, key } = described
    const name = JSON.stringify([form, engine, isEngineNamed, key])
    const known = this.#texts.get(name) ?? this.#running.get(name)
    if (known !== undefined) return known
    const written = this.#write(form, described).finally(() => this.#running.delete(name))
    this.#running.set(name, written)
    const text = await written
    this.#texts.set(name, text)
    return text
  }

  async #write(form: 'json' | 'html', described: DescribedOperations): Promise<ApiText> {
    const { engine: name, isEngineNamed } = described
    const { release = null, schemes = ['basic'] } = this.#engineOf(name) ?? {}
    const { basePath } = this.#options
    const parts = this.#partsOf(release)
    await parts.prepare()
    const description = {
      title: `Engine ${name}`,
      version: release ?? PUBLISHED_SOURCES.at(-1)?.version ?? '',
      basePath: isEngineNamed ? `${basePath}/engine/${encodeURIComponent(name)}` : basePath,
      schemes,
    }
    const json = writeDocument(parts, description, described)
    const body = Buffer.from(form === 'json' ? json : apiPageOf(json))
    return { body, etag: `"${hash('sha256', body, 'base64url')}"` }
  }

  #partsOf(release: Release | null): DocumentParts {
    const { operations, hasIdempotencyKeys } = this.#options
    const parts = this.#parts.get(release) ?? new DocumentParts(operations, { release, hasIdempotencyKeys })
    this.#parts.set(release, parts)
    return parts
  }

  #engineOf(name: string): DescribedEngine | undefined {
    return this.#options.engines.find((one) => one.name === name)
  }
}
