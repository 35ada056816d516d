import { OPERATIONS } from '../../src/operations/all.ts'
import type { EngineDependencies, Dependencies } from '../../src/pipeline/dependencies.ts'
import type { AccessRequest } from '../../src/request/access-request.ts'
import type { ListPermit } from '../../src/lists/answer/decide-list.ts'

/** The subject of a decision. */
export interface Decided {
  readonly engine: string
  readonly template: string
  readonly params: AccessRequest['params']
}

/** Returns a wrapper whose permits allow every request and record what each decision was about. */
export function watchPermits(decided: Decided[]): (dependencies: Dependencies) => Dependencies {
  return (dependencies) => ({
    ...dependencies,
    engines: new Map([...dependencies.engines].map(([name, engine]) => [name, watchEngine(engine, decided)])),
  })
}

function watchEngine(engine: EngineDependencies, decided: Decided[]): EngineDependencies {
  const templates = new Map(OPERATIONS.map(({ id, template }) => [id, template]))
  const watch = (id: string, permit: ListPermit): ListPermit => ({
    ...permit,
    authorize: ({ params }) => {
      decided.push({ engine: engine.name, template: templates.get(id) ?? '', params })
      return { permitted: true }
    },
    verifyCreated: null,
    decideList: null,
    keepAllowedLinks: null,
  })
  const get = (id: string) => {
    const permit = engine.permits.get(id)
    return permit === undefined ? undefined : watch(id, permit)
  }
  return { ...engine, permits: { get } }
}
