import { z } from 'zod'
import { OPERATIONS } from '../operations/all.ts'
import { closestOf } from './closest.ts'
import { meantText } from './plain-messages.ts'
import { isShownName } from './shown-name.ts'
import { signingKey } from './values.ts'

const EFFECTS: ReadonlyMap<string, string> = new Map(OPERATIONS.map(({ id, effect }) => [id, effect]))

const readOperation = z
  .string()
  .superRefine((id, context) => {
    const effect = EFFECTS.get(id)
    if (effect !== 'read') context.addIssue({ code: 'custom', message: messageAbout(id, effect) })
  })
  .meta({ title: 'name of an operation that reads' })

function messageAbout(id: string, effect: string | undefined): string {
  if (effect === 'write') return 'is an operation that writes, and every write has a line'
  if (id === '*') return '* is not an operation: write the name of each operation'
  const name = isShownName(id) ? `'${id}'` : 'the value'
  return `${name} is not an operation: docs/operations.md lists their names${meantText(closestOf(id, [...EFFECTS.keys()]))}`
}

/** The lines of the audit stream, and what happens while they cannot be written. */
export const audit = z.strictObject({
  required: z
    .boolean()
    .default(false)
    .describe(
      'Whether a request that has a line if it is permitted (each write, and the operations in `reads`) is refused with 503 `GW_AUDIT_UNAVAILABLE` while audit lines cannot be written. ' +
        'If false, such requests continue, and up to 8 MiB of lines wait in memory.',
    ),
  key: signingKey
    .nullable()
    .default(null)
    .describe(
      'A secret, created with `openssl rand -base64 32`. The digests of audit lines are then HMACs with this key, so that a person who can write the file cannot calculate them again. ' +
        '`audit verify --key-file` needs the key.',
    ),
  reads: z
    .array(readOperation)
    .default([])
    .describe(
      'Names of operations that read, whose permitted requests have a line, for example `[getProcessInstanceVariables]`. ' +
        'docs/operations.md lists the names. Every request of such an operation adds a line of about 500 bytes.',
    ),
  logins: z
    .boolean()
    .default(false)
    .describe(
      'Whether each successful verification of credentials has a line. While the gateway remembers credentials (`identity.remember`), they are not verified again.',
    ),
  reasons: z
    .boolean()
    .default(false)
    .describe(
      'Whether the line of a permitted request says which authorization record permitted it (`permittedBy`). The decision about such a request then takes a few microseconds longer.',
    ),
})
