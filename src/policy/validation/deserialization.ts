import { serializedValuesOf } from '../../operations/serialized-values.ts'
import type { Operation } from '../../operations/table.ts'
import { withParameter } from '../../request/target.ts'

/** Returns a query string with which the engine returns objects as text. All other parameters stay unchanged. */
export function withSerializedValues({ id }: Pick<Operation, 'id'>, search: string): string {
  return serializedValuesOf(id).reduce((sent, [name, value]) => withParameter(sent, name, value), search)
}
