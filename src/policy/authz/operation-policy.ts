import type { Operation } from '../../operations/table.ts'
import type { CompiledChecks } from './checks/compiled-check.ts'
import type { Permission } from './checks/compiled-permission.ts'
import type { CompiledRows } from './rows/compiled-rows.ts'

/** All that a row of the table says about permissions, compiled. It does not depend on the engine. */
export interface OperationPolicy {
  readonly operation: Operation
  readonly checks: CompiledChecks
  /** Null: the answer has no rows of its own. */
  readonly rows: CompiledRows | null
  /** The permission that a link needs, by its `rel`; null: the answer offers no links. */
  readonly allowedLinks: ReadonlyMap<string, Permission> | null
}

/** The policies of a table, by operationId. */
export type Policies = ReadonlyMap<string, OperationPolicy>
