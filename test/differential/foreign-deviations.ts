import type { Seen } from './compare.ts'
import type { ForeignKind } from './plan.ts'

/** An accepted difference: the form of both responses, and the text that describes it in docs/deviations.md. */
interface Deviation {
  readonly kinds: readonly ForeignKind[]
  /** The caller to which it applies. Default: both. */
  readonly caller?: 'allowed' | 'stranger'
  /** The ids of the operations to which it applies. Default: all. */
  readonly operations?: readonly string[]
  readonly engine: RegExp
  readonly gateway: RegExp
  readonly documented: string
}

export const DEVIATIONS: readonly Deviation[] = [
  {
    kinds: ['empty JSON'],
    // The exception mapper that responds differs between starts of an engine. The response is JSON without a message, or text.
    engine: /^400( InvalidRequestException|$)/,
    gateway: /./,
    documented: 'an empty body of JSON type (POST, PUT) is sent as `{}`',
  },
  {
    kinds: ['no body'],
    caller: 'stranger',
    engine: /^(500 NullPointerException|400 InvalidRequestException)/,
    // 204 is the engine's response to the suspension of an instance that does not exist.
    gateway: /^([45]\d\d |20[04])/,
    documented: 'a request without a body and a media type, to an operation that needs a body',
  },
  {
    kinds: ['no body'],
    operations: ['throwSignal', 'deliverMessage'],
    engine: /^500 NullPointerException/,
    gateway: /^400 GW_INVALID_BODY/,
    documented: '`POST /signal` and `/message` (the name)',
  },
  {
    kinds: ['no body'],
    operations: ['verifyUser'],
    engine: /^500 NullPointerException/,
    gateway: /^400 GW_INVALID_BODY InvalidRequestException Username and password are required/,
    documented: '`POST /identity/verify` (the username and the password)',
  },
  {
    kinds: ['no body'],
    caller: 'allowed',
    operations: ['generateMigrationPlan', 'validateMigrationPlan'],
    engine: /^500 NullPointerException/,
    gateway: /^400 InvalidRequestException Source process definition id is null/,
    documented: '`POST /migration/generate` and `/migration/validate` (the source',
  },
  {
    kinds: ['no body'],
    operations: ['updateCredentials'],
    engine: /^500 NullPointerException .*getAuthenticatedUserPassword/,
    gateway: /^500 NullPointerException .*getPassword/,
    documented: 'a user can change a password without the old one',
  },
  {
    kinds: ['foreign accept'],
    caller: 'stranger',
    engine: /^406/,
    gateway: /^[45]\d\d/,
    documented: 'an `Accept` that the response cannot have',
  },
  {
    kinds: ['foreign accept'],
    operations: ['createAuthorization'],
    engine: /^406/,
    gateway: /^500 NullValueException/,
    documented: 'an `Accept` that the response cannot have',
  },
  {
    kinds: ['foreign type', 'form type', 'empty text'],
    engine: /^404 RestException/,
    gateway: /^415/,
    documented: 'a path by a key that does not exist',
  },
  {
    kinds: ['percent'],
    caller: 'allowed',
    operations: ['getDecisionStatistics'],
    engine: /^500 NullValueException/,
    gateway: /^200/,
    documented: '`GET /history/decision-requirements-definition/{id}/statistics` of an unknown id',
  },
]

/** Returns the part of a response that is compared, for example `403 AuthorizationException The user …`. */
export function saidOf({ status, code, body }: Seen): string {
  const { type, message } = Object(body)
  return [status, code, type, message].filter((part) => part !== '' && part !== undefined).join(' ')
}

/** Returns whether two responses are the same. For errors of the gateway itself, only the status is compared. */
export function saysTheSame(engine: Seen, gateway: Seen, kind: ForeignKind): boolean {
  if (engine.status !== gateway.status) return false
  if (gateway.code !== '') return true
  const isCompared = kind === 'percent' && engine.status < 300
  if (isCompared) return JSON.stringify(engine.body) === JSON.stringify(gateway.body)
  return saidOf(engine) === saidOf(gateway)
}

/** Returns the deviation that describes a difference. Returns undefined for a difference that is not accepted. */
export function deviationOf(difference: {
  readonly kind: ForeignKind
  readonly user: string
  readonly operation: string
  readonly engine: Seen
  readonly gateway: Seen
}): Deviation | undefined {
  const { kind, user, operation, engine, gateway } = difference
  return DEVIATIONS.find(
    (one) =>
      one.kinds.includes(kind) &&
      (one.caller ?? user) === user &&
      (one.operations?.includes(operation) ?? true) &&
      one.engine.test(saidOf(engine)) &&
      one.gateway.test(saidOf(gateway)),
  )
}
