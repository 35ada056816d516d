import { setImmediate } from 'node:timers/promises'
import type { Operation } from '../operations/table.ts'
import { type NamedSchema, componentOf, ERROR_COMPONENT } from './component-schemas.ts'
import {
  type OperationObject,
  type OperationObjectOptions,
  operationObjectOf,
  type OperationParts,
  operationPartsOf,
  partsIn,
} from './operation-object.ts'
import { type PartKind, SharedParts } from './shared-parts.ts'

/** The parts of all documents with the same release. Each is written once, so that the document of a caller only joins them. */
export class DocumentParts {
  readonly #options: OperationObjectOptions
  readonly #operations: readonly Operation[]
  readonly #parts = new Map<string, OperationParts>()
  readonly #objects = new Map<string, OperationObject>()
  readonly #schemas = new Map<string, WrittenSchema>()
  #shared: SharedParts | null = null
  #prepared: Promise<void> | null = null

  constructor(operations: readonly Operation[], options: OperationObjectOptions) {
    this.#operations = operations
    this.#options = options
  }

  /** Writes all parts once, and lets other work run between turns. */
  prepare(): Promise<void> {
    this.#prepared ??= this.#prepare()
    return this.#prepared
  }

  async #prepare(): Promise<void> {
    for (const operations of inTurns(this.#operations)) {
      for (const operation of operations) this.#partsOf(operation)
      await setImmediate()
    }
    for (const operations of inTurns(this.#operations)) {
      this.schemas(operations.map((operation) => this.#objectOf(operation)))
      await setImmediate()
    }
  }

  /** Returns the parts about some operations, in the order of the table. */
  objectsOf(ids: ReadonlySet<string>): readonly OperationObject[] {
    return this.#operations.filter(({ id }) => ids.has(id)).map((operation) => this.#objectOf(operation))
  }

  /** Returns the schemas that some operations refer to, as members of an object. */
  schemas(objects: readonly OperationObject[]): string {
    const reached = new Set([ERROR_COMPONENT, ...objects.flatMap(({ named }) => [...named])])
    // A set iterates over names that are added meanwhile.
    for (const name of reached) for (const other of this.#schemaOf(name).named) reached.add(other)
    return [...reached]
      .toSorted()
      .map((name) => this.#schemaOf(name).json)
      .join()
  }

  /** Returns the other components of a kind that some operations refer to, as members of an object. */
  shared(objects: readonly OperationObject[], kind: PartKind): readonly string[] {
    const paths = new Set(objects.flatMap(({ shared }) => [...shared]))
    return [...paths]
      .filter((path) => path.startsWith(`${kind}/`))
      .toSorted()
      .map((path) => this.#sharedParts().memberAt(path))
  }

  #objectOf(operation: Operation): OperationObject {
    const object =
      this.#objects.get(operation.id) ?? operationObjectOf(this.#partsOf(operation), this.#sharedParts())
    this.#objects.set(operation.id, object)
    return object
  }

  /**
   * Counts the parts of all operations, not only those of one caller. An operation then has the same description in the documents of
   * all callers.
   */
  #sharedParts(): SharedParts {
    this.#shared ??= new SharedParts(
      this.#operations.flatMap((operation) => partsIn(this.#partsOf(operation))),
    )
    return this.#shared
  }

  #partsOf(operation: Operation): OperationParts {
    const parts = this.#parts.get(operation.id) ?? operationPartsOf(operation, this.#options)
    this.#parts.set(operation.id, parts)
    return parts
  }

  #schemaOf(name: string): WrittenSchema {
    const known = this.#schemas.get(name)
    if (known !== undefined) return known
    const { schema, named } = componentOf(name, this.#options.release)
    const written = { named, json: `${JSON.stringify(name)}:${JSON.stringify(schema)}` }
    this.#schemas.set(name, written)
    return written
  }
}

/** Number of operations that are described in one turn of the event loop. */
const A_TURN = 60

function* inTurns(operations: readonly Operation[]): Generator<readonly Operation[]> {
  for (let at = 0; at < operations.length; at += A_TURN) yield operations.slice(at, at + A_TURN)
}

interface WrittenSchema extends Pick<NamedSchema, 'named'> {
  readonly json: string
}
