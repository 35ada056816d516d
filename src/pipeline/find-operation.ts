import type { Operation } from '../operations/table.ts'

export interface FoundOperation {
  readonly operation: Operation
  /** Decoded, by name. */
  readonly params: Readonly<Record<string, string>>
}

/**
 * The row that the router would run for a path below the base: of the templates that fit, the one with the earlier
 * literals. Null: there is none, or it has no such method.
 */
export function findOperation(
  operations: readonly Operation[],
  method: string,
  path: string,
): FoundOperation | null {
  const raw = path.split('/')
  const fitting = operations.filter(({ template }) => fits(template.split('/'), raw))
  const [best] = fitting.map(({ template }) => template).sort((one, other) => byLiterals(one, other))
  const name = method === 'HEAD' ? 'GET' : method
  const operation = fitting.find((row) => row.template === best && row.method === name)
  return operation === undefined ? null : { operation, params: paramsOf(operation.template.split('/'), raw) }
}

function fits(template: readonly string[], raw: readonly string[]): boolean {
  return (
    template.length === raw.length &&
    template.every((segment, at) => (segment.startsWith(':') ? isValue(raw[at] ?? '') : segment === raw[at]))
  )
}

function isValue(segment: string): boolean {
  return segment !== '' && decoded(segment) !== null
}

function byLiterals(one: string, other: string): number {
  const others = other.split('/')
  for (const [at, segment] of one.split('/').entries()) {
    const difference = Number(segment.startsWith(':')) - Number(others[at]?.startsWith(':') ?? false)
    if (difference !== 0) return difference
  }
  return 0
}

function paramsOf(template: readonly string[], raw: readonly string[]): Readonly<Record<string, string>> {
  const named = template.flatMap((segment, at) =>
    segment.startsWith(':') ? [[segment.slice(1), decoded(raw[at] ?? '') ?? '']] : [],
  )
  return Object.fromEntries(named)
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
