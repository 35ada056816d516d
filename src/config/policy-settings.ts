import { HAZARD_RULES } from '../operations/hazard-rules.ts'
import { OPEN_NAMES } from '../operations/open-names.ts'
import { z } from 'zod'
import { tokenSettings } from './token-settings.ts'
import { age, wholeNumber, time } from './values.ts'

const mode = z.enum(['enforce', 'report', 'off'])
const FIVE_MINUTES_MS = 300_000
/** Settings that every source of users has. */
const ofEverySource = {
  remember: age()
    .default(5000)
    .describe(
      'How long a verified credential is remembered. A change of that user that the gateway notices ends it at once. Zero: nothing is remembered.',
    ),
  rememberFailures: age()
    .default(5000)
    .describe('How long a wrong credential is refused without another look. Zero: nothing is remembered.'),
  open: z
    .array(z.enum(OPEN_NAMES))
    .default([])
    .describe(
      'What is answered without credentials, as web clients ask it before a login: `engines` is `GET /engine`, `passwordPolicy` is `GET /identity/password-policy`, ' +
        '`verify` is `POST /identity/verify`, which the gateway then answers by itself, of its own users. ' +
        'Danger: whoever reaches the gateway may ask; `limits.rate` counts them by address.',
    ),
  tokens: tokenSettings
    .nullable()
    .default(null)
    .describe('Bearer tokens that are accepted beside Basic. Null: none.'),
}
/** If a file cannot be read, its last content stays in force for `staleAfter`. */
const fromFile = (content: string) => ({
  file: z
    .string()
    .min(1)
    .meta({ title: 'file name' })
    .describe(`${content}. The file is read again when it changes.`),
  staleAfter: age()
    .default(FIVE_MINUTES_MS)
    .describe(
      'A file that cannot be read counts so long with its last content; then requests are 503. Zero: it counts only while it can be read.',
    ),
})
const SOURCE_NEEDED = '{ source: file, file } or { source: engine } is needed'
/** The section `identity`. */
export const identitySettings = z.discriminatedUnion(
  'source',
  [
    z.strictObject({
      source: z
        .literal('file')
        .describe(
          'Where users come from: `file`, or `engine`: `POST /identity/verify` with its groups and tenants.',
        ),
      ...fromFile('Users with argon2id or bcrypt hashes, as `engine-gateway hash-password` makes them'),
      ...ofEverySource,
    }),
    z.strictObject({
      source: z.literal('engine'),
      ...ofEverySource,
      failures: wholeNumber(1, 4)
        .default(4)
        .describe(
          'Wrong passwords of one user in a row that may reach the engine. The engine locks the user for good at ten.',
        ),
      pause: age(1)
        .default(FIVE_MINUTES_MS)
        .describe('How long guesses for that user do not reach the engine after that.'),
    }),
  ],
  SOURCE_NEEDED,
)
const records = z.discriminatedUnion(
  'source',
  [
    z.strictObject({
      source: z
        .literal('file')
        .describe('Where authorization records come from: `file`, or `engine`: its `GET /authorization`.'),
      ...fromFile("Records with the engine's own members, as `POST /authorization/create` takes them"),
    }),
    z
      .strictObject({
        source: z.literal('engine'),
        refresh: time()
          .default(30_000)
          .describe(
            'From one reading to the next. A change of records that passes through the gateway is read at once.',
          ),
        staleAfter: age()
          .default(FIVE_MINUTES_MS)
          .describe(
            'Records that were last read longer ago decide nothing: requests are 503. It is longer than `refresh`.',
          ),
      })
      .refine(({ refresh, staleAfter }) => staleAfter > refresh, {
        path: ['staleAfter'],
        error: 'must be longer than refresh',
      }),
  ],
  SOURCE_NEEDED,
)
/** The section `authorization`. */
export const authorizationSettings = z.strictObject({
  mode: z
    .enum(['enforce', 'report', 'off', 'engine'])
    .default('enforce')
    .describe(
      '`enforce` refuses. `report` decides, counts and logs, and refuses nothing. `off` decides nothing. ' +
        'Danger: `report` and `off` let every authenticated caller do everything. ' +
        '`engine` is for engines that are secured themselves and know the caller (`credentials: forward` or `{ header }`): they decide, and the gateway decides only about what it has cached. ' +
        'With `report` and `off` no cached response is used or stored, because the engine may still refuse some callers.',
    ),
  records: records.describe(
    'Authorization records. Needed in every mode; `off` reads them and does not use them.',
  ),
  revokes: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe("Whether revocations count, as the engine's `authorizationCheckRevokes` says it."),
  adminGroups: z
    .array(z.string())
    .default(['camunda-admin'])
    .describe("Groups of administrators, as the engine's setting. Operaton's group is `operaton-admin`."),
  adminUsers: z.array(z.string()).default([]).describe("Administrators, as the engine's setting."),
  disabledPermissions: z
    .array(z.string())
    .default([])
    .describe(
      "Permissions that are not checked, as the engine's setting. Danger: a check of only these passes for everybody.",
    ),
  specificVariablePermissions: z
    .boolean()
    .default(false)
    .describe(
      "As the engine's `enforceSpecificVariablePermission`: reading variables needs READ_VARIABLE on the task, or READ_TASK_VARIABLE, READ_INSTANCE_VARIABLE or READ_HISTORY_VARIABLE on the process definition. " +
        'Danger: if the secured engine had the setting and this one is false, callers read variables that the engine refused.',
    ),
  implied: z
    .strictObject({
      tasks: z
        .boolean()
        .default(true)
        .describe(
          'Assignee, owner and every user or group linked to a task may read and update it, as a secured engine grants it. Needs history level full.',
        ),
      taskPermission: z
        .enum(['UPDATE', 'TASK_WORK'])
        .default('UPDATE')
        .describe(
          "The permission besides READ that `tasks` grants, as the engine's `defaultUserPermissionNameForTask`: with TASK_WORK the user of a link may claim and complete the task, but not assign or change it.",
        ),
      identity: z
        .boolean()
        .default(true)
        .describe("Everybody may do everything with oneself, and read one's groups and tenants."),
    })
    .prefault({})
    .describe('Grants that a secured engine writes by itself, and a bare one does not.'),
  tenants: z
    .enum(['check', 'ignore'])
    .default('check')
    .describe(
      'What belongs to a tenant is for its members and for administrators. `ignore` is for engines without tenants: lists then need no look at every row.',
    ),
})
/** The section `validation`. */
export const validation = z.strictObject({
  mode: mode
    .default('enforce')
    .describe('`enforce` refuses. `report` counts and logs what would be refused. `off` looks at nothing.'),
  allow: z
    .array(z.enum(HAZARD_RULES))
    .default([])
    .describe('Hazards that may pass. docs/deviations.md says what each one opens.'),
})
