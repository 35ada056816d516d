import { HAZARD_RULES } from '../operations/hazard-rules.ts'
import { z } from 'zod'
import { age, wholeNumber, time } from './values.ts'

const mode = z.enum(['enforce', 'report', 'off'])
const FIVE_MINUTES_MS = 300_000
/** Settings of every source of users. */
const remembering = {
  /** How long a verified credential is cached; a known change invalidates it at once. */
  remember: age().default(5000),
  /** How long a wrong credential is refused without another check. */
  rememberFailures: age().default(5000),
}
/** How long the last content is valid while the file cannot be read. */
const fromFile = { file: z.string().min(1), staleAfter: age().default(FIVE_MINUTES_MS) }
const SOURCE_NEEDED = '{ source: file, file } or { source: engine } is needed'
/** Where users are defined. */
export const identitySettings = z.discriminatedUnion(
  'source',
  [
    z.strictObject({ source: z.literal('file'), ...fromFile, ...remembering }),
    z.strictObject({
      source: z.literal('engine'),
      ...remembering,
      /** Wrong passwords of one user in a row that may reach the engine: after ten it locks the user permanently. */
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
        /** Between two readings, beside those after each change through the gateway. */
        refresh: time().default(30_000),
        /** Records read longer ago are not used: 503. */
        staleAfter: age().default(FIVE_MINUTES_MS),
      })
      .refine(({ refresh, staleAfter }) => staleAfter > refresh, {
        path: ['staleAfter'],
        error: 'must be longer than refresh',
      }),
  ],
  SOURCE_NEEDED,
)
/** Authorization, and the source of its records. */
export const authorizationSettings = z.strictObject({
  /** `engine`: the engine is secured and receives the caller; the gateway decides only about cached answers. */
  mode: z.enum(['enforce', 'report', 'off', 'engine']).default('enforce'),
  records,
  /** As the engine's `authorizationCheckRevokes`. */
  revokes: z.enum(['auto', 'always', 'never']).default('auto'),
  adminGroups: z.array(z.string()).default(['camunda-admin']),
  adminUsers: z.array(z.string()).default([]),
  disabledPermissions: z.array(z.string()).default([]),
  /** Grants that a secured engine creates by itself, and a bare one does not. */
  implied: z
    .strictObject({
      /** READ and UPDATE on a task for its assignee, its owner and every user and group linked to it. Needs history level full. */
      tasks: z.boolean().default(true),
      /** ALL on oneself, READ on one's groups and tenants. */
      identity: z.boolean().default(true),
    })
    .prefault({}),
  /** As the engine's `tenantCheckEnabled`: data of a tenant is for its members. */
  tenants: z.enum(['check', 'ignore']).default('check'),
})
/** Content of requests that is refused. */
export const validation = z.strictObject({
  mode: mode.default('enforce'),
  /** Hazards that are allowed; see docs/deviations.md for the effect of each. */
  allow: z.array(z.enum(HAZARD_RULES)).default([]),
})
