import type { OperationEntry } from './table.ts'

/** The id of one of several operations that a call writes, with the fields that only this operation has. */
export type OperationForm =
  | string
  | (Partial<Omit<OperationEntry, 'route' | 'items' | 'checks'>> & { readonly id: string })

/** Returns the id and the entry of an operation. `shared` has the fields that follow from the call. */
export function formEntryOf(form: OperationForm, shared: OperationEntry): readonly [string, OperationEntry] {
  const { id, ...own } = typeof form === 'string' ? { id: form } : form
  return [id, { ...shared, ...own }]
}
