import type { RecipeName } from '../bundles.ts'
import type { Part } from '../http.ts'
import type { Left } from '../sweep.ts'

/**
 * A request that is written with names. `<task.office-1.At-the-desk>` is this task at either engine, `<task.*>` is any task, `@user` is
 * the caller and `@group` is a group of the caller. Absent path parameters are chosen by the operation's path template.
 */
export interface Template {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly form?: readonly Part[]
  /** The recipe that creates the entities for the request. It runs before the request, and again if a request may have changed them. */
  readonly uses?: RecipeName
  /** Set if a successful request leaves these entities usable for the next request. */
  readonly keeps?: true
  /** The kinds of entities that a successful request leaves behind. */
  readonly leaves?: readonly Left[]
  /** The name of the entity that a successful request creates. */
  readonly defines?: string
  /** Set if the gateway may refuse the request with `GW_ITEMS_NOT_EXACT`, because docs/deviations.md says so. */
  readonly mayBeRefused?: true
}

/** The templates of requests, by operationId. */
export type Templates = Readonly<Record<string, readonly Template[]>>

/** Possible ids of a path, for requests that do not set the id. The first pattern that matches the path template is used. */
export const PARAMS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^\/authorization\/:id/, ['<auth.*>']],
  [/^\/batch\/:id|^\/history\/batch\/:id/, ['<batch.*>']],
  [/^\/decision-definition\/:id/, ['<dd.*>']],
  [/^(\/history)?\/decision-requirements-definition\/:id/, ['<drd.*>']],
  [/^\/deployment\/:id/, ['<deployment.*>']],
  [/^\/execution\/:id/, ['<execution.*>', '<execution.*>', '<pi.*>']],
  [/^\/external-task\/:id/, ['<extern.*>']],
  [/^\/filter\/:id/, ['<filter.*>']],
  [/^\/group\/:id/, ['<group.*>', '@group']],
  [/^\/history\/activity-instance\/:id/, ['<activity.*>']],
  [/^\/history\/decision-instance\/:id/, ['<hdi.*>']],
  [/^\/history\/detail\/:id/, ['<detail.*>']],
  [/^\/history\/external-task-log\/:id/, ['<extlog.*>']],
  [/^\/history\/job-log\/:id/, ['<joblog.*>']],
  [/^\/history\/process-instance\/:id/, ['<pi.*>', '<ended.*>']],
  [/^\/history\/variable-instance\/:id/, ['<var.*>', '<hvar.*>']],
  [/^\/incident\/:id/, ['<incident.*>']],
  [/^\/job-definition\/:id/, ['<jobdef.*>']],
  [/^\/job\/:id/, ['<job.*>']],
  [/^(\/history)?\/process-definition\/:id/, ['<pd.*>']],
  [/^\/process-instance\/:id\/comment/, ['<pi.office-1>', '<pi.*>', '<ended.*>']],
  [/^\/process-instance\/:id/, ['<pi.*>']],
  [/^\/task\/:id/, ['<task.*>']],
  [/^\/tenant\/:id/, ['<tenant.*>']],
  [/^\/user\/:id/, ['<user.*>', '@user']],
  [/^\/variable-instance\/:id/, ['<var.*>']],
  [/^\/process-definition\/key\/:key/, ['<pdkey.*>']],
  [/^\/decision-definition\/key\/:key/, ['<ddkey.*>']],
  [/^\/decision-requirements-definition\/key\/:key/, ['<drdkey.*>']],
]

/** One typed variable, in the form that most writes accept. */
export const VARIABLES = { variables: { added: { value: 'yes', type: 'String' } } } as const

export const uploadOf = (type = 'Bytes'): readonly Part[] => [
  { name: 'data', value: 'bytes', file: 'data.bin', type: 'application/octet-stream' },
  { name: 'valueType', value: type, type: 'text/plain' },
]
