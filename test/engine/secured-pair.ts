import { join } from 'node:path'
import type { Test } from 'tap'
import type { HazardRule } from '../../src/operations/hazard-rules.ts'
import { type Admin, createAdmin, type Json, rowsOf } from '../differential/admin.ts'
import { openGateway } from '../differential/gateway.ts'
import { type Answer, type Ask, basicOf, type Client, createClient, jsonOf } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import { freePort } from '../support/free-port.ts'
import type { Family } from './build.ts'
import { startEngine } from './engine.ts'

/** A user of the secured engine, with the groups, the tenants and the authorization records of the user. */
export interface PairCaller {
  readonly user: string
  /** Groups that exist. */
  readonly groups?: readonly string[]
  readonly tenants?: readonly string[]
  readonly records: readonly Readonly<Record<string, unknown>>[]
}

/** Sends one request as one caller and returns the status and the JSON of the response. */
export type AskAs = (user: string, ask: Ask) => Promise<PairAnswer>

export interface PairAnswer {
  readonly status: number
  readonly body: unknown
  /** The error code of the gateway; empty if it has none. */
  readonly code: string
}

/** A secured engine and a gateway in front of a bare engine, on one database: ids are equal. */
export interface SecuredPair {
  readonly admin: Admin
  /** Creates the callers and starts the gateway with the records of the secured engine. */
  readonly open: (
    callers: readonly PairCaller[],
    options?: PairOptions,
  ) => Promise<{ engine: AskAs; gateway: AskAs }>
}

export interface PairOptions {
  /** Selects the records that the gateway gets. Default: all records of the secured engine, including those that it has created automatically. */
  readonly isKept?: (record: Json) => boolean
  /** Where the gateway gets users and records. Default: from files. */
  readonly source?: 'engine' | 'file'
  /** The limit `limits.scannedItems` of the gateway. */
  readonly scannedItems?: number
  /** Hazards that the gateway accepts; default: none. */
  readonly allowedHazards?: readonly HazardRule[]
  /** Settings of the gateway's engine besides its nodes. */
  readonly settings?: Readonly<Record<string, unknown>>
}

interface SecuredEngineOptions {
  /** Further Spring properties of the secured engine. */
  readonly args?: readonly string[]
  /** The engine at which `admin` sends its requests. Default: the secured engine, which stores the user. */
  readonly adminAt?: 'bare' | 'secured'
}

export async function startSecuredPair(
  t: Test,
  family: Family,
  { args = [], adminAt = 'secured' }: SecuredEngineOptions = {},
): Promise<SecuredPair> {
  const file = `${join(t.testdir(), 'engine')};AUTO_SERVER=TRUE;AUTO_SERVER_PORT=${await freePort()}`
  // H2 may otherwise reuse the result that an inner query had for another caller.
  const db = `jdbc:h2:file:${file};OPTIMIZE_REUSE_RESULTS=0`
  const bare = await startEngine({ family, db, jvm: ['-Xmx512m'] })
  t.teardown(() => bare.stop())
  const secured = await startEngine({ family, db, secured: true, args })
  t.teardown(() => secured.stop())
  const connect = (base: string): Client => {
    const client = createClient(base)
    t.teardown(() => client.close())
    return client
  }
  const atSecured = connect(secured.base)
  const admin = createAdmin(adminAt === 'secured' ? atSecured : connect(bare.base))
  return {
    admin,
    async open(
      callers,
      { isKept = () => true, source = 'file', scannedItems, allowedHazards = [], settings = {} } = {},
    ) {
      // The secured engine also writes the records of a new user.
      for (const caller of callers) await createCaller(createAdmin(atSecured), caller)
      const sets = callers.map(setOf)
      const records = rowsOf(await admin.call('GET', '/authorization')).filter(isKept)
      const gateway = await openGateway(bare.base, {
        sets,
        records,
        source,
        implied: true,
        adminGroup: 'camunda-admin',
        ...(scannedItems !== undefined && { scannedItems }),
        allowedHazards,
        engine: settings,
      })
      t.teardown(() => gateway.close())
      return { engine: askerOf(atSecured), gateway: askerOf(connect(gateway.base)) }
    },
  }
}

function setOf({ user, groups = [], tenants = [] }: PairCaller, index: number) {
  const none = { group: '', ownGroups: [], links: [], records: [], plans: [] }
  return { index, user, password: PASSWORD, joins: groups, tenants, ...none }
}

async function createCaller(
  admin: Admin,
  { user, groups = [], tenants = [], records }: PairCaller,
): Promise<void> {
  const profile = { id: user, firstName: user, lastName: user, email: `${user}@test.example` }
  await admin.call('POST', '/user/create', { profile, credentials: { password: PASSWORD } })
  for (const group of groups) await admin.call('PUT', `/group/${group}/members/${user}`)
  for (const tenant of tenants) await admin.call('PUT', `/tenant/${tenant}/user-members/${user}`)
  for (const record of records)
    await admin.call('POST', '/authorization/create', { type: 1, resourceId: '*', userId: user, ...record })
}

function askerOf(client: Client): AskAs {
  return async (user, ask) => readAnswer(await client.send(ask, basicOf(user, PASSWORD)))
}

function readAnswer(answer: Answer): PairAnswer {
  const isJson = answer.type.includes('json')
  return { status: answer.status, body: isJson ? jsonOf(answer) : null, code: answer.code }
}
