import type { Method, Operation, OperationEntry, TagOperations } from './table.ts'
import { effectOf, mistakeInEffect } from './effect.ts'
import { latestVersionOf, mistakeInActsOn } from './acts-on.ts'
import { releasesOf } from './published/releases.ts'
import { namedBy } from './tenanted.ts'

function checkRow(id: string, row: OperationEntry): void {
  const mistake = mistakeInEffect(row) ?? mistakeInActsOn(row)
  if (mistake !== null) throw new Error(`The table holds ${id} (${row.route}), which ${mistake}`)
  const unknown = namedBy(row).find(({ knownBy }) => knownBy === null)
  if (unknown === undefined) return
  const ways = "an entity, a look-up in a check, `resolvesIds`, `actsOn`, or `otherTenant: 'ignored'`"
  throw new Error(
    `The table holds ${id} (${row.route}), which does not say how the tenant of what it names is known (${unknown.member}): ${ways} is needed`
  )
}

/**
 * Returns the operations of the table, with method and path template separated. The operations of a tag are sorted by path, then
 * by method, because one call in a file may write several operations.
 * @throws Error if the table is wrong: two operations share an id or a route, the effect of an operation contradicts its other
 * fields, an operation names an entity that may belong to a tenant and declares no way to determine that tenant, or it names a
 * definition by its key and does not declare `actsOn`
 */
export function operationsOf(rowsets: readonly TagOperations[]): readonly Operation[] {
  const ids = new Set<string>()
  const routes = new Set<string>()
  return rowsets.flatMap((rows) =>
    Object.entries(rows)
      .map(([id, written]) => {
        const derived = latestVersionOf(written)
        const { route, ...row }: OperationEntry = derived === undefined ? written : { entity: derived, ...written }
        checkRow(id, { route, ...row })
        if (ids.has(id) || routes.has(route)) throw new Error(`The table holds ${id} (${route}) twice`)
        ids.add(id)
        routes.add(route)
        const [method, template = ''] = route.split(' ')
        if (!isMethod(method)) throw new Error(`The table holds ${id} with the method ${method}`)
        const effect = effectOf(written)
        const only = row.only ?? releasesOf(id)
        return { ...row, ...(only === null ? {} : { only }), id, method, template, effect, retry: effect === 'read' ? 'always' : 'unsent' } as const
      })
      .toSorted(byPlace),
  )
}

/** The methods, in the order of the operations of one path. */
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']

function isMethod(text: string | undefined): text is Method {
  return METHODS.some((method) => method === text)
}

type OperationPlace = Pick<Operation, 'template' | 'method'>

function byPlace(a: OperationPlace, b: OperationPlace): number {
  if (a.template !== b.template) return a.template < b.template ? -1 : 1
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method)
}
