import type { Operation } from '../operations/table.ts'
import { isRecord } from '../request/value.ts'

interface Done {
  /** The bytes of the answer; null: it was too long to be kept, encoded, or has none. */
  readonly answer: Buffer | null
  /** What was sent, parsed. */
  readonly body: unknown
}

/** More than these are not named: a message may start a hundred instances. */
const MAX_IDS = 20

/** The ids of what a success has made, by the row's column `creates`. Empty: it names none, or they are not known. */
export function createdIdsOf({ creates }: Pick<Operation, 'creates'>, done: Done): readonly string[] {
  if (creates === undefined) return []
  const [where, path = ''] = creates.split(':')
  const value = where === 'body' ? done.body : parsed(done.answer)
  return idsAt(value, path.split('.')).slice(0, MAX_IDS)
}

function idsAt(value: unknown, [name, ...rest]: readonly string[]): readonly string[] {
  if (name === undefined) return typeof value === 'string' && value !== '' ? [value] : []
  if (name === '[]') return Array.isArray(value) ? value.flatMap((one) => idsAt(one, rest)) : []
  return isRecord(value) && Object.hasOwn(value, name) ? idsAt(value[name], rest) : []
}

function parsed(answer: Buffer | null): unknown {
  try {
    return answer === null ? null : JSON.parse(answer.toString('utf8'))
  } catch {
    return null
  }
}
