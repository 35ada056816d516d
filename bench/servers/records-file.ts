import { RECORDS } from './gateway.ts'

export interface RecordsContent {
  /** The number of records in addition to those of the user. */
  readonly records: number
  /** Contents of other versions have no record in common. */
  readonly version?: number
  /** `plain`: the form that needs no YAML library. `library`: one record needs it, because of an anchor. */
  readonly form?: string
}

/** Returns the text of a records file in the plain form. */
export function recordsFile({ records, version = 0, form = 'plain' }: RecordsContent): string {
  const own = RECORDS.map((record) => textOf(record))
  const more = Array.from({ length: records }, (_, index) => textOf(recordOf(index, version)))
  if (form === 'library') more.push(textOf(recordOf(records, version)).replace('userId: ', 'userId: &name '))
  return ['authorizations:', ...own, ...more, ''].join('\n')
}

function recordOf(index: number, version: number) {
  const resourceId = `${index.toString(16).padStart(8, '0')}-${version}-11ef-9ad2-0242ac120002`
  return {
    type: 1,
    permissions: ['READ', 'UPDATE'],
    userId: `user${index % 5_000}`,
    resourceType: 8,
    resourceId,
  }
}

function textOf(record: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(record).map(([name, value]) => `${name}: ${scalarOf(value)}`)
  return `  - ${lines.join('\n    ')}`
}

function scalarOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`
  return value === '*' ? '"*"' : String(value)
}
