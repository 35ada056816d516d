import type { RecipeName } from '../bundles.ts'
import type { Part } from '../http.ts'
import type { Left } from '../sweep.ts'

/**
 * A request in names: `<task.office-1.At-the-desk>` is that task at either engine, `<task.*>` any task, `@user` the caller
 * and `@group` a group of the caller's. What is left out comes from the operation's own template.
 */
export interface Template {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly form?: readonly Part[]
  /** Made before, and made anew after a request that may have changed it. */
  readonly uses?: RecipeName
  /** A success does not use up what was made. */
  readonly keeps?: true
  /** What a success leaves behind. */
  readonly leaves?: readonly Left[]
}

/** By operationId. */
export type Templates = Readonly<Record<string, readonly Template[]>>

/** What the id of a path is when a request does not say: by the template's beginning, the first that fits. */
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

/** One typed variable, as most writes take them. */
export const VARIABLES = { variables: { added: { value: 'yes', type: 'String' } } } as const

export const uploadOf = (type = 'Bytes'): readonly Part[] => [
  { name: 'data', value: 'bytes', file: 'data.bin', type: 'application/octet-stream' },
  { name: 'valueType', value: type, type: 'text/plain' },
]
