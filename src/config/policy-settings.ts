import { z } from 'zod'
import { age, wholeNumber, time } from './values.ts'

const mode = z.enum(['enforce', 'report', 'off'])
const FIVE_MINUTES_MS = 300_000
/** What every source of users has. */
const remembering = {
  /** How long a verified credential is remembered; what is known to have changed voids it at once. */
  remember: age().default(5000),
  /** How long a wrong credential is refused without another look. */
  rememberFailures: age().default(5000),
}
/** The last content counts as long once there is none to read. */
const fromFile = { file: z.string().min(1), staleAfter: age().default(FIVE_MINUTES_MS) }
const SOURCE_NEEDED = '{ source: file, file } or { source: engine } is needed'
/** Who there is. */
export const identitySettings = z.discriminatedUnion(
  'source',
  [
    z.strictObject({ source: z.literal('file'), ...fromFile, ...remembering }),
    z.strictObject({
      source: z.literal('engine'),
      ...remembering,
      /** Wrong passwords of one user that may reach the engine in a row: at ten it locks the user for good. */
      failures: wholeNumber(1, 4).default(4),
      /** How long guesses do not reach the engine after that. */
      pause: age(1).default(FIVE_MINUTES_MS),
    }),
  ],
  SOURCE_NEEDED,
)
const records = z.discriminatedUnion(
  'source',
  [
    z.strictObject({ source: z.literal('file'), ...fromFile }),
    z
      .strictObject({
        source: z.literal('engine'),
        /** From one reading to the next, beside those after each change that passes through. */
        refresh: time().default(30_000),
        /** Records that were last read longer ago decide nothing: 503. */
        staleAfter: age().default(FIVE_MINUTES_MS),
      })
      .refine(({ refresh, staleAfter }) => staleAfter > refresh, {
        path: ['staleAfter'],
        error: 'must be longer than refresh',
      }),
  ],
  SOURCE_NEEDED,
)
/** Who may do what, and from where it is known. */
export const authorizationSettings = z.strictObject({
  /** `engine`: the engine is secured and told the caller; only what is held here is decided here. */
  mode: z.enum(['enforce', 'report', 'off', 'engine']).default('enforce'),
  records,
  /** As the engine's `authorizationCheckRevokes`. */
  revokes: z.enum(['auto', 'always', 'never']).default('auto'),
  adminGroups: z.array(z.string()).default(['camunda-admin']),
  adminUsers: z.array(z.string()).default([]),
  disabledPermissions: z.array(z.string()).default([]),
  /** Grants that a secured engine writes by itself, and a bare one does not. */
  implied: z
    .strictObject({
      /** READ and UPDATE on a task for its assignee, its owner and every user and group linked to it. Needs history level full. */
      tasks: z.boolean().default(true),
      /** ALL on oneself, READ on one's groups and tenants. */
      identity: z.boolean().default(true),
    })
    .prefault({}),
  /** As the engine's `tenantCheckEnabled`: what belongs to a tenant is for its members. */
  tenants: z.enum(['check', 'ignore']).default('check'),
})
/** What of a request's content is refused. */
export const validation = z.strictObject({
  mode: mode.default('enforce'),
  /** Hazards that may pass; see docs/deviations.md for what each one opens. */
  allow: z.array(z.enum(['expressions', 'java-serialized', 'object-type-name', 'doctype'])).default([]),
})
