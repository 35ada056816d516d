import {
  type OperatorText,
  ownText,
  operatorText,
  type EngineRefusal,
  jsonRefusalOf,
} from '../../../errors.ts'

/** A permission that the caller lacks. */
export interface MissingAuthorization {
  readonly permission: string
  /** The name of the resource in the engine's messages, for example `ProcessDefinition`. */
  readonly resource: string
  /** Null if the engine checked without an id. Its message then names no id. */
  readonly id: string | null
}

/**
 * Returns the engine's 403 for a check that failed. The wording is the same whether one or all of the missing permissions
 * are needed. A single missing permission has its own sentence, unless the engine builds the check as a list.
 */
export function authorizationExceptionOf(
  userId: string,
  missing: readonly MissingAuthorization[],
  { listsAlternatives = false }: { readonly listsAlternatives?: boolean } = {},
): EngineRefusal {
  const [only] = missing
  const message =
    only !== undefined && missing.length === 1 && !listsAlternatives
      ? `The user with id '${userId}' does not have ${phraseOf(only)}.`
      : `The user with id '${userId}' does not have one of the following permissions: ${phrasesOf(missing)}`
  return forbidden(message, userId, missing)
}

/** Returns the engine's 403 for an operation that only an admin may use. */
export function adminExceptionOf(): EngineRefusal {
  return forbidden('ENGINE-03029 Required admin authenticated group or user.', null, [])
}

/** Returns the engine's 403 for an operation that requires an admin or one of these permissions. */
export function adminOrPermissionExceptionOf(missing: readonly MissingAuthorization[]): EngineRefusal {
  return forbidden(
    `ENGINE-03110 Required admin authenticated group or user or any of the following permissions: ${phrasesOf(missing)}.`,
    null,
    [],
  )
}

function forbidden(
  message: string,
  userId: string | null,
  missing: readonly MissingAuthorization[],
): EngineRefusal {
  const [only] = missing.length === 1 ? missing : []
  const body = {
    type: 'AuthorizationException',
    message,
    code: 0,
    userId,
    resourceName: only?.resource ?? null,
    resourceId: only?.id ?? null,
    permissionName: only?.permission ?? null,
    missingAuthorizations: missing.map(({ permission, resource, id }) => ({
      permissionName: permission,
      resourceName: resource,
      resourceId: id,
    })),
  }
  return jsonRefusalOf(403, body, deniedText(missing))
}

/** Returns the missing permissions for a log line, without ids: the audit stream has them. */
function deniedText(missing: readonly MissingAuthorization[]): OperatorText {
  if (missing.length === 0) return operatorText`only an administrator is permitted`
  const needed = new Set(missing.map(({ permission, resource }) => `${permission} on ${resource}`))
  return ownText(`the caller lacks ${[...needed].join(' or ')}`)
}

function phrasesOf(missing: readonly MissingAuthorization[]): string {
  return missing.map(phraseOf).join(' or ')
}

function phraseOf({ permission, resource, id }: MissingAuthorization): string {
  return id === null
    ? `'${permission}' permission on resource '${resource}'`
    : `'${permission}' permission on resource '${id}' of type '${resource}'`
}
