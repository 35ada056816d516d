import { bodyValue } from '../../request/body.ts'
import { isRecord } from '../../request/value.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { FindTargets } from '../../policy/authz/entities/look-ups.ts'
import { grantedIds } from '../../policy/authz/decision/granted-ids.ts'
import type { Attributes } from '../../request/attributes.ts'
import { usesRevokes } from '../../policy/authz/records/records.ts'
import { idsGranted, isVisible, visibilityOf } from '../../policy/authz/visibility/visibility.ts'
import type { ListSubject, CompiledRestriction } from '../../policy/authz/visibility/compiled-restriction.ts'
import { type FetchScope, tenantsAsked } from './narrow-topics.ts'
import { MAX_CONDITION_VALUES } from '../limits.ts'

interface FetchScopeInput {
  readonly restriction: CompiledRestriction
  readonly subject: ListSubject
  readonly accessRequest: AccessRequest
  readonly findTargets: FindTargets
}

/** Returns which external tasks a caller may fetch, or null if no topic can express it. */
export async function fetchScopeOf({
  restriction,
  subject,
  accessRequest,
  findTargets,
}: FetchScopeInput): Promise<FetchScope | null> {
  const revokes = usesRevokes(subject.records, subject.principal)
  if (revokes && speaksOfInstances(restriction, subject)) return null
  const needsTenants = (subject.tenants?.size ?? 0) > 0 && !namesTenants(accessRequest)
  if (!revokes && !needsTenants)
    return { keys: keysGranted(restriction, subject), definitionIds: null, tenants: subject.tenants }
  const definitions = await findTargets('definitions', accessRequest)
  if (definitions === null || 'candidates' in definitions) return null
  const seen = definitions.filter((definition) =>
    isVisible(restriction, {}, attributeOf(definition), subject),
  )
  if (seen.length > MAX_CONDITION_VALUES) return null
  return { keys: null, definitionIds: seen.flatMap(({ id }) => id ?? []), tenants: subject.tenants }
}

/** Returns whether records revoke permissions on single instances. No topic can exclude an instance. */
function speaksOfInstances(
  { conditions }: CompiledRestriction,
  { records, principal }: ListSubject,
): boolean {
  return conditions
    .flatMap(({ permissions }) => permissions)
    .filter(({ resource }) => resource === 'PROCESS_INSTANCE')
    .some((permission) => grantedIds(records, principal, permission).revokedIds.length > 0)
}

/** Returns whether every topic selects the tasks of certain tenants or of no tenant. */
function namesTenants({ body }: AccessRequest): boolean {
  const topics = bodyValue(body, 'topics')
  if (!Array.isArray(topics)) return true
  return topics.every((topic: unknown) => isRecord(topic) && tenantsAsked(topic) !== 'all')
}

/**
 * Returns the keys of definitions that meet every condition, because a task is fetched only if it may be read and updated.
 * Null if all definitions do.
 */
function keysGranted(restriction: CompiledRestriction, subject: ListSubject): readonly string[] | null {
  const lists = restriction.conditions
    .map((condition) => ({ ...restriction, conditions: [condition] }))
    .filter((one) => visibilityOf(one, subject.principal, subject.records) !== 'all')
    .map((one) => idsGranted(one, 'PROCESS_DEFINITION', subject))
  const [first, ...others] = lists
  return first === undefined ? null : first.filter((key) => others.every((list) => list.includes(key)))
}

/** Returns the attributes of a definition's tasks. The tasks of single instances that records name are not covered. */
function attributeOf(definition: Attributes): (name: string) => string | null {
  return (name) => (name === 'processInstanceId' ? null : (definition[name] ?? null))
}
