import type { Operation } from '../../operations/table.ts'
import type { CompiledChecks } from './checks/compiled-check.ts'
import type { Permission } from './checks/compiled-permission.ts'
import type { CompiledRestriction } from './visibility/compiled-restriction.ts'

/** The compiled permissions of one operation of the table. They do not depend on the engine. */
export interface OperationPolicy {
  readonly operation: Operation
  readonly checks: CompiledChecks
  /** Null if the response has no items of its own. */
  readonly restriction: CompiledRestriction | null
  /** The permission that a link needs, by its `rel`. Null if the response has no links. */
  readonly allowedLinks: ReadonlyMap<string, Permission> | null
}

/** The policies of a table, by operationId. */
export type Policies = ReadonlyMap<string, OperationPolicy>
