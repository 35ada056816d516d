/** The kinds of components that operations can have in common besides schemas. */
export type PartKind = 'parameters' | 'requestBodies' | 'responses'

/** A parameter, a body or a response of an operation. */
export interface OperationPart {
  readonly kind: PartKind
  /** The name of the component if operations share it. Other parts may have the same name. */
  readonly name: string
  /** The object as JSON. */
  readonly json: string
}

/** The place of a component below `#/components/`, for example `parameters/tenantIdIn`. */
export type ComponentPath = `${PartKind}/${string}`

/** Finds the parts of operations that make the document smaller if operations refer to them as components. */
export class SharedParts {
  readonly #counts = new Map<string, number>()
  /** The most frequent part of each name. */
  readonly #frequent = new Map<ComponentPath, OperationPart>()

  constructor(parts: Iterable<OperationPart>) {
    for (const part of parts) {
      const count = this.#countOf(part) + 1
      this.#counts.set(keyOf(part), count)
      const other = this.#frequent.get(pathOf(part))
      if (other === undefined || this.#countOf(other) < count) this.#frequent.set(pathOf(part), part)
    }
  }

  /** Returns where a part is if operations share it. Null if each operation contains it. */
  pathOf(part: OperationPart): ComponentPath | null {
    const path = pathOf(part)
    if (this.#frequent.get(path)?.json !== part.json) return null
    const definition = part.name.length + part.json.length + '"":,'.length
    const saved = this.#countOf(part) * (part.json.length - referenceTo(path).length)
    return saved > definition ? path : null
  }

  /** Returns a component as a member of the components of its kind. */
  memberAt(path: ComponentPath): string {
    const { name = '', json = '{}' } = this.#frequent.get(path) ?? {}
    return `${JSON.stringify(name)}:${json}`
  }

  #countOf(part: OperationPart): number {
    return this.#counts.get(keyOf(part)) ?? 0
  }
}

/** Returns a reference to a component as JSON. */
export function referenceTo(path: string): string {
  return JSON.stringify({ $ref: `#/components/${path}` })
}

function pathOf({ kind, name }: OperationPart): ComponentPath {
  return `${kind}/${name}`
}

function keyOf({ kind, name, json }: OperationPart): string {
  return `${kind}/${name} ${json}`
}
