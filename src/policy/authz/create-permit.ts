import { operatorText } from '../../errors.ts'
import type { Principal } from '../../request/principal.ts'
import { answerAuthorizationCheck } from './authorization-check.ts'
import type { AuthorizeOptions } from './checks/authorize-options.ts'
import { contextOf, createAuthorize } from './checks/authorize.ts'
import { createItemChecks } from './checks/item-checks.ts'
import { createAllowedLinks } from './allowed-links.ts'
import { subjectOf } from './visibility/list-subject.ts'
import type { ReadItemAttributes } from './entities/look-ups.ts'
import type { OperationPolicy } from './operation-policy.ts'
import type { Permit } from './permit.ts'

/** The options of the decisions about the requests of one engine. */
export interface PermitOptions extends AuthorizeOptions {
  readonly readItemAttributes: ReadItemAttributes
  /** Reads the groups of any user, for callers that may request them. */
  readonly groupsOf: (userId: string) => Promise<readonly string[]>
  /** Finds a user other than the caller. Null: the user does not exist. */
  readonly principalOf: (userId: string) => Promise<Principal | null>
}

/** Binds the policy of one operation to one engine. */
export function createPermit(policy: OperationPolicy, options: PermitOptions): Permit {
  const { operation, checks, allowedLinks } = policy
  const { empty } = checks
  const keepAllowedLinks = allowedLinks === null ? null : createAllowedLinks(allowedLinks, options)
  const authorize = createAuthorize(checks, options)
  return {
    ...authorize,
    checkItems: createItemChecks(checks, authorize, options),
    policy,
    operation,
    emptyResponse:
      empty === null
        ? null
        : (accessRequest) => empty(contextOf(accessRequest, options), operatorText`nothing is selected`),
    keepAllowedLinks:
      keepAllowedLinks === null
        ? null
        : (body, accessRequest) => keepAllowedLinks(body, accessRequest, options.records()),
    answerCheck: (accessRequest) =>
      answerAuthorizationCheck(accessRequest, { ...options, records: options.records() }),
    tenantsOf: (principal) => subjectOf({ principal }, options).tenants,
  }
}
