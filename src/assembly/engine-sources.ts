import type { AuthorizationConfig, IdentityConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { ChangeKind } from '../operations/table.ts'
import type { AskEngine } from '../request/engine-request.ts'
import { createEngineIdentity, type EngineIdentity } from '../policy/authn/engine-identity.ts'
import { createEngineRecords } from '../policy/authz/records/engine-records.ts'
import { createFileIdentity } from '../policy/authn/file-identity.ts'
import type { IdentitySource } from '../policy/authn/identity-source.ts'
import type { LoginOutcome } from '../policy/authn/lockout.ts'
import type { Passwords } from '../policy/authn/password.ts'
import { createFileRecords, type RecordsSource } from '../policy/authz/records/records-source.ts'
import type { ThrottleOptions } from '../policy/authn/throttle.ts'
import { engineKeyOf, type PolicyLedger } from './policy-ledger.ts'
import type { SourceFiles } from './source-files.ts'

/** The users and the authorization records of one engine. */
export interface EngineSources {
  readonly identity: IdentitySource
  readonly records: RecordsSource
  /** Returns a number that changes whenever the records in force change; -1 while no records are in force. */
  readonly recordsVersion: () => number
  /** Limits guesses before the source is queried. */
  readonly throttle: ThrottleOptions
  /**
   * Handles a write that was forwarded to the engine. When it resolves, the change is in force here and has been published. Never
   * rejects.
   */
  readonly changed: (changes: readonly ChangeKind[], about: string) => Promise<void>
  /** Handles a message of another replica, `about` a user. */
  readonly applyChange: (topic: string, about: string) => void
  /** Handles a gap in which messages of other replicas may have been lost. */
  readonly missed: () => void
}

interface SourcesOptions {
  readonly engine: string
  readonly identity: IdentityConfig
  readonly authorization: AuthorizationConfig
  readonly files: Pick<SourceFiles, 'users' | 'records' | 'parseStored'>
  readonly ask: AskEngine
  readonly passwords: Passwords
  /** Changes when the users of the engine may have changed. */
  readonly version: { current: object }
  /** Receives the records of the engine whenever they have changed. */
  readonly ledger: Pick<PolicyLedger, 'set'>
  /** Publishes a message to the other replicas. */
  readonly publish: (topic: string, about?: string) => Promise<void>
  readonly log: Logger
}

export function createSources(options: SourcesOptions): EngineSources {
  const { publish } = options
  const records = recordsOf(options)
  const { identity, atEngine } = identityOf(options)
  const apply = createApply(atEngine, records)
  const isAtEngine: Readonly<Record<ChangeKind, boolean>> = {
    records: options.authorization.records.source === 'engine',
    identity: atEngine !== null,
    lockouts: atEngine !== null,
  }
  return {
    identity,
    records,
    recordsVersion: createRecordsVersion(records.current),
    throttle: atEngine === null ? {} : ENGINE_THROTTLE,
    changed: async (changes, about) => {
      const here = changes.filter((change) => isAtEngine[change])
      await Promise.all(here.flatMap((change) => [apply(change, about), publish(change, about)]))
    },
    applyChange: (topic, about) => {
      if (isChange(topic) && isAtEngine[topic]) void apply(topic, about)
      if (isOutcome(topic)) atEngine?.count(topic, about)
    },
    missed: () => {
      if (isAtEngine.records) void apply('records', '')
      void apply('identity', '')
    },
  }
}

function createRecordsVersion(current: RecordsSource['current']): () => number {
  let last: unknown = null
  let version = 0
  return () => {
    try {
      const inForce = current()
      if (inForce !== last) version += 1
      last = inForce
      return version
    } catch {
      return -1
    }
  }
}

function createApply(
  identity: EngineIdentity | null,
  records: RecordsSource,
): (change: ChangeKind, about: string) => Promise<void> {
  return async (change, about) => {
    if (change === 'identity') identity?.changed()
    // The count of failures restarts for a user who was unlocked, created or deleted.
    if (change === 'lockouts') identity?.count('succeeded', about)
    if (change === 'records') await records.refresh()
  }
}

function isChange(topic: string): topic is ChangeKind {
  return topic === 'records' || topic === 'identity' || topic === 'lockouts'
}

function isOutcome(topic: string): topic is LoginOutcome {
  return topic === 'failed' || topic === 'succeeded' || topic === 'renewed'
}

// One address must not use up the failed logins that the engine tolerates for a user: clients at other addresses must have an
// attempt left.
const ENGINE_THROTTLE: ThrottleOptions = {
  windowMs: 300_000,
  perUserAndAddress: 3,
  refusesPairs: true,
  perAddress: 200,
}

function identityOf({ identity: setting, files, passwords, version, ask, publish }: SourcesOptions): {
  readonly identity: IdentitySource
  readonly atEngine: EngineIdentity | null
} {
  if (setting.source !== 'engine')
    return { identity: createFileIdentity({ file: files.users(setting), passwords }), atEngine: null }
  const atEngine = createEngineIdentity({
    ask,
    version,
    maxFailures: setting.failures,
    pauseMs: setting.pause,
    onOutcome: (outcome, user) => void publish(outcome, user),
  })
  return { identity: atEngine, atEngine }
}

function recordsOf({ authorization, files, ledger, ask, engine, log }: SourcesOptions): RecordsSource {
  const { records: setting, revokes, disabledPermissions } = authorization
  const options = { revokes, disabledPermissions }
  if (setting.source === 'file') return createFileRecords({ ...options, file: files.records(setting) })
  let before: string | null = null
  let partlyRead = 0
  return createEngineRecords({
    ...options,
    ask,
    parse: files.parseStored,
    refreshMs: setting.refresh,
    staleAfterMs: setting.staleAfter,
    onRead: (problem) => {
      if (problem !== null && before === null)
        log.warn(
          { engine, why: problem },
          'cannot read the records; the last records stay in use until staleAfter',
        )
      if (problem === null && before !== null) log.info({ engine }, 'records can be read again')
      before = problem
    },
    onChange: (table, digest) => ledger.set(engineKeyOf(engine), { kind: 'records', digest, table }),
    onPartlyRead: (count) => {
      if (count > 0 && count !== partlyRead)
        log.warn(
          { engine, records: count },
          'some records have no resource id, or an unknown resource type or permission; these parts grant nothing',
        )
      partlyRead = count
    },
  })
}
