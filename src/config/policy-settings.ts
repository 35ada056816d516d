import { HAZARD_RULES } from '../operations/hazard-rules.ts'
import { OPEN_NAMES } from '../operations/open-names.ts'
import { z } from 'zod'
import { tokenSettings } from './token-settings.ts'
import { age, listedName, wholeNumber, time } from './values.ts'

const mode = z.enum(['enforce', 'report', 'off'])
const FIVE_MINUTES_MS = 300_000
const ONE_HOUR_MS = 3_600_000
const FIVE_SECONDS_MS = 5_000
const REMEMBER =
  'How long a verified credential is remembered. A credential that is used after 70 % of this time is verified again in the background. '
const REMEMBER_NONE = 'If zero, no credential is remembered.'
/** Settings that every source of users has. */
const ofEverySource = {
  rememberFailures: age()
    .default(FIVE_SECONDS_MS)
    .describe(
      'How long a wrong credential is refused without another check. If zero, no wrong credential is remembered.',
    ),
  open: z
    .array(z.enum(OPEN_NAMES))
    .default([])
    .describe(
      'Operations that are available without credentials, because web clients call them before the login. `engines` is `GET /engine`. ' +
        '`passwordPolicy` is `GET /identity/password-policy`. `verify` is `POST /identity/verify`. ' +
        'If it is listed, the gateway responds to it, from its own users. Danger: every client that reaches the gateway may call these operations. ' +
        '`limits.rate` counts such requests by client address.',
    ),
  tokens: tokenSettings
    .nullable()
    .default(null)
    .describe('Bearer tokens that are accepted in addition to Basic. If null, no bearer token is accepted.'),
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
      'How long the last content is used if the file cannot be read. After this time, requests get 503. ' +
        'If zero, the content is used only while the file can be read.',
    ),
})
/** Settings of the sources that read users from a file. */
const ofEveryFile = {
  remember: age()
    .default(ONE_HOUR_MS)
    .describe(
      `${REMEMBER}Each request is compared with the user in the file, so a user who is changed or removed is refused as soon as ` +
        `the file has been read. A shorter time does not make this faster, and more password hashes are computed. ${REMEMBER_NONE}`,
    ),
}
const SOURCE_NEEDED = '{ source: file, file } or { source: engine } is needed'
const USERS_NEEDED = '{ source: file, file }, { source: htpasswd, file } or { source: engine } is needed'
/** The section `identity`. */
export const identitySettings = z.discriminatedUnion(
  'source',
  [
    z.strictObject({
      source: z
        .literal('file')
        .describe(
          'Where users come from. `file`: a file of users. `htpasswd`: a file that `htpasswd -B` writes. ' +
            "`engine`: the engine, with `POST /identity/verify` and the engine's groups and tenants.",
        ),
      ...fromFile(
        'A file of users with argon2id or bcrypt hashes. `engine-gateway hash-password` creates the hashes',
      ),
      ...ofEveryFile,
      ...ofEverySource,
    }),
    z.strictObject({
      source: z.literal('htpasswd'),
      ...fromFile('An htpasswd file with bcrypt hashes. `htpasswd -B` creates the lines'),
      groupsFile: z
        .string()
        .min(1)
        .optional()
        .meta({ title: 'file name' })
        .describe(
          'A file with the groups and tenants of these users: a file of users without `passwordHash`. It is read again when it changes. ' +
            'If absent, users have no groups and no tenants.',
        ),
      ...ofEveryFile,
      ...ofEverySource,
    }),
    z.strictObject({
      source: z.literal('engine'),
      ...ofEverySource,
      remember: age()
        .default(FIVE_SECONDS_MS)
        .describe(
          `${REMEMBER}A user who is changed or removed in the engine is accepted for at most this time, except while the engine does ` +
            `not respond: see \`staleAfter\`. ${REMEMBER_NONE}`,
        ),
      staleAfter: age()
        .default(FIVE_MINUTES_MS)
        .describe(
          'How long a verified credential is used if the engine does not respond when the gateway verifies it again. ' +
            'If zero, a credential is never used for longer than `remember`.',
        ),
      failures: wholeNumber(1, 4)
        .default(4)
        .describe(
          'Maximum number of consecutive wrong passwords of one user that the gateway sends to the engine. The engine locks a user permanently after ten.',
        ),
      pause: age(1)
        .default(FIVE_MINUTES_MS)
        .describe(
          'How long the gateway sends no password of a user to the engine after `failures` wrong ones in a row.',
        ),
    }),
  ],
  USERS_NEEDED,
)
const records = z.discriminatedUnion(
  'source',
  [
    z.strictObject({
      source: z
        .literal('file')
        .describe(
          "Where authorization records come from. `file`: a file. `engine`: the engine's `GET /authorization`.",
        ),
      ...fromFile(
        'A file of records with the members that `POST /authorization/create` of the engine accepts',
      ),
    }),
    z
      .strictObject({
        source: z.literal('engine'),
        refresh: time()
          .default(30_000)
          .describe(
            'Time between two reads of the records. After a change of records through the gateway, the records are read at once.',
          ),
        staleAfter: age()
          .default(FIVE_MINUTES_MS)
          .describe(
            'Maximum age of the records. If the last successful read is older, the records are not used, and requests get 503. It must be longer than `refresh`.',
          ),
      })
      .refine(({ refresh, staleAfter }) => staleAfter > refresh, {
        path: ['staleAfter'],
        error: 'must be longer than refresh',
      }),
  ],
  SOURCE_NEEDED,
)
/** The admin groups of an engine without a setting. */
export const DEFAULT_ADMIN_GROUPS: readonly string[] = ['camunda-admin']
const ADMIN_INSTEAD = 'to permit something to everyone, write records of type 0 (GLOBAL) with userId *'
/** The section `authorization`. */
export const authorizationSettings = z.strictObject({
  mode: z
    .enum(['enforce', 'report', 'off', 'engine'])
    .default('enforce')
    .describe(
      '`enforce` refuses requests without permission. `report` decides, counts and logs, but refuses no request. `off` makes no decisions. ' +
        'Danger: with `report` and `off`, every authenticated caller may do everything. ' +
        '`engine` is for engines that check authorizations themselves and know the caller (`credentials: forward` or `{ header }`). ' +
        'The engine then decides, and the gateway decides only about cached responses. ' +
        'With `report` and `off` no cached response is used or stored, because the engine may still refuse some callers.',
    ),
  records: records.describe(
    'Authorization records. Required in every mode. With `off`, the gateway reads the records but does not use them.',
  ),
  revokes: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      "Whether revocations apply. It has the meaning of the engine's setting `authorizationCheckRevokes`.",
    ),
  adminGroups: z
    .array(listedName(ADMIN_INSTEAD))
    .default(() => [...DEFAULT_ADMIN_GROUPS])
    .describe(
      "Groups of administrators, as in the engine's setting of the same name. Operaton's group is `operaton-admin`.",
    ),
  adminUsers: z
    .array(listedName(ADMIN_INSTEAD))
    .default([])
    .describe("User ids of administrators, as in the engine's setting of the same name."),
  disabledPermissions: z
    .array(z.string())
    .default([])
    .describe(
      "Permissions that are not checked, as in the engine's setting of the same name. " +
        'Danger: a check that consists only of these permissions succeeds for every user.',
    ),
  specificVariablePermissions: z
    .boolean()
    .default(false)
    .describe(
      "Has the meaning of the engine's setting `enforceSpecificVariablePermission`. " +
        'If true, reading variables needs READ_VARIABLE on the task, or READ_TASK_VARIABLE, READ_INSTANCE_VARIABLE or READ_HISTORY_VARIABLE on the process definition. ' +
        'Danger: if the secured engine had the setting and this one is false, callers read variables that the engine refused.',
    ),
  implied: z
    .strictObject({
      tasks: z
        .boolean()
        .default(true)
        .describe(
          'The assignee, the owner, and every user or group linked to a task may read and update it, as in a secured engine. Needs history level full.',
        ),
      taskPermission: z
        .enum(['UPDATE', 'TASK_WORK'])
        .default('UPDATE')
        .describe(
          "The permission that `tasks` grants in addition to READ, as in the engine's setting `defaultUserPermissionNameForTask`. " +
            'With TASK_WORK, a linked user may claim and complete the task, but not assign or change it.',
        ),
      identity: z
        .boolean()
        .default(true)
        .describe(
          'Every user has all permissions on their own user, and may read their own groups and tenants.',
        ),
      filters: z
        .boolean()
        .default(true)
        .describe(
          'If records come from files: the owner of a filter has all permissions on it, as in a secured engine, unless a GRANT record names the owner and this filter. ' +
            'A change of the owner then needs CREATE on all authorizations, because it gives these permissions to another user.',
        ),
    })
    .prefault({})
    .describe(
      'Permissions that a secured engine creates automatically and an engine without authorization does not.',
    ),
  tenants: z
    .enum(['check', 'ignore'])
    .default('check')
    .describe(
      "`check`: only members of a tenant, and administrators, may access the tenant's data. `ignore`: tenants are not checked. " +
        'Use it for engines without tenants: lists then need no tenant check of every item.',
    ),
})
/** The section `validation`. */
export const validation = z.strictObject({
  mode: mode
    .default('enforce')
    .describe(
      '`enforce` refuses invalid requests. `report` counts and logs the requests that `enforce` would refuse. `off` checks nothing.',
    ),
  allow: z
    .array(z.enum(HAZARD_RULES))
    .default([])
    .describe('Hazards that are permitted. docs/deviations.md describes the effect of each one.'),
  expressions: z
    .array(
      z
        .string()
        .regex(
          /^[^\s{}](?:[^{}]*[^\s{}])?$/,
          'the text between the braces, without the braces and without spaces at its ends',
        ),
    )
    .default([])
    .describe(
      'Expressions in task queries and filters that are accepted in addition to the known ones: the text between `${` and `}`, which must be ' +
        'equal, with all spaces. The engine runs it as code for every caller. docs/configuration/validation.md lists the known expressions.',
    ),
  scripts: z
    .enum(['refuse', 'report', 'off'])
    .default('report')
    .describe(
      'Scripts in deployed models. `refuse`: a deployment with a script, or with a model that the gateway cannot read, gets 400 `GW_HAZARD`. ' +
        '`report`: it is counted and logged. `off`: models are not searched. A script runs with all rights of the engine.',
    ),
})
