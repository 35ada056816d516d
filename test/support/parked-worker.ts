import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { EngineDependencies } from '../../src/pipeline/dependencies.ts'
import type { Principal } from '../../src/request/principal.ts'
import { ParkedRequests } from '../../src/pipeline/parked-requests.ts'
import { until } from './cache-harness.ts'
import {
  type Answer,
  type Ask,
  BASE,
  type GatewayOptions,
  openGateway,
  type OpenGateway,
} from './open-gateway.ts'
import { recordsOf } from './people.ts'

export const FETCH_ROUTE = 'POST /external-task/fetchAndLock'
export const WORK = 'grant anna PROCESS_DEFINITION:work READ_INSTANCE,UPDATE_INSTANCE'
export const MORE_WORK = 'grant anna PROCESS_DEFINITION:more READ_INSTANCE,UPDATE_INSTANCE'
/** A record of another user. */
export const UNRELATED = 'grant ben PROCESS_DEFINITION:rest READ'

/** A task that an engine locks for a poll. */
export const TASK = {
  id: 't1',
  topicName: 'print',
  lockExpirationTime: '2100-01-01T00:00:00.000+0000',
  variables: { secret: 1 },
}

export interface ParkedGateway extends OpenGateway {
  /** Polls that the engine holds, oldest first. */
  readonly held: HeldPoll[]
  /** Starts a poll and resolves when the engine holds it. */
  readonly park: (user: string | null, ask?: Ask) => Promise<Parked>
  /** Replaces the file of records and resolves when the new records are in force. */
  readonly setRecords: (lines: readonly string[]) => Promise<void>
  /** Replaces the file of users. */
  readonly setUsers: (
    change: (users: readonly Readonly<Record<string, unknown>>[]) => readonly object[],
  ) => void
  /** Returns whether the user of the last poll is unchanged, as far as the gateway knows. */
  readonly isUserCurrent: () => boolean
  /** Returns the paths of the unlock requests that the engine received. */
  readonly unlocked: () => readonly string[]
}

export interface Parked {
  readonly answer: Promise<Answer>
  readonly held: HeldPoll
}

export interface HeldPoll {
  readonly body: unknown
  readonly answer: (tasks: readonly object[]) => void
}

interface ParkedOptions extends Omit<GatewayOptions, 'engine' | 'wrap'> {
  /** Milliseconds between reviews of parked polls, or null if there are no reviews. Default: 20. */
  readonly reviewMs?: number | null
  /** Responds to a request that is neither a poll nor an unlock request. If it returns false, the response is `[]`. */
  readonly answer?: (path: string, response: ServerResponse, method: string) => boolean
}

/** Opens a gateway whose engine holds polls until the test responds to them. */
export async function openParked(t: Test, options: ParkedOptions = {}): Promise<ParkedGateway> {
  const { reviewMs = 20, answer = () => false, ...rest } = options
  const held: HeldPoll[] = []
  const last: Last = { principal: null }
  const parked = new ParkedRequests(
    reviewMs === null ? { schedule: () => () => undefined } : { intervalMs: reviewMs },
  )
  const gateway = await openGateway(t, {
    records: [WORK],
    watch: true,
    ...rest,
    wrap: (dependencies) => ({
      ...dependencies,
      parked,
      engines: new Map([...dependencies.engines].map(([name, one]) => [name, noting(one, last)])),
    }),
    engine: ({ url, body, method }, response) => {
      const path = url.slice(BASE.length)
      if (path === '/external-task/fetchAndLock' && body.includes('asyncResponseTimeout'))
        held.push({ body: JSON.parse(body.toString()), answer: (tasks) => sendJson(response, tasks) })
      else if (path.endsWith('/unlock')) response.writeHead(204).end()
      else if (!answer(path, response, method)) sendJson(response, [])
    },
  })
  t.teardown(() => {
    for (const one of held) one.answer([])
  })
  const { dependencies } = gateway
  const { identity, authorization } = dependencies.config
  const engine = dependencies.engines.get('default')
  return {
    ...gateway,
    held,
    park: async (user, ask = {}) => {
      const count = held.length + 1
      const body = {
        workerId: 'w',
        maxTasks: 1,
        asyncResponseTimeout: 60_000,
        topics: [TOPIC],
        ...objectOf(ask.body),
      }
      const response = gateway.ask(user, FETCH_ROUTE, { ...ask, body })
      await until(() => held.length >= count, 10_000)
      const one = held[count - 1]
      if (one === undefined) throw new Error('the engine holds no poll')
      return { answer: response, held: one }
    },
    setRecords: async (lines) => {
      if (authorization.records.source !== 'file') throw new Error('the records are in no file')
      const before = engine?.recordsVersion()
      writeFileSync(authorization.records.file, `${JSON.stringify({ authorizations: recordsOf(lines) })}\n`)
      await until(() => engine?.recordsVersion() !== before, 10_000)
    },
    setUsers: (change) => {
      if (identity.source !== 'file') throw new Error('the users are in no file')
      const { users } = JSON.parse(readFileSync(identity.file, 'utf8'))
      writeFileSync(identity.file, `${JSON.stringify({ users: change(users) })}\n`)
    },
    isUserCurrent: () => last.principal !== null && engine?.authenticator.isCurrent(last.principal) === true,
    unlocked: () =>
      gateway.engine.seen.map(({ url }) => url.slice(BASE.length)).filter((path) => path.endsWith('/unlock')),
  }
}

interface Last {
  principal: Principal | null
}

/** Returns the engine's dependencies with an authenticator that stores the last principal. */
function noting(engine: EngineDependencies, last: Last): EngineDependencies {
  const { authenticator } = engine
  return {
    ...engine,
    authenticator: {
      ...authenticator,
      authenticate: async (header, address) => {
        last.principal = await authenticator.authenticate(header, address)
        return last.principal
      },
    },
  }
}

export const TOPIC = { topicName: 'print', lockDuration: 60_000 }

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  if (response.headersSent) return
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
