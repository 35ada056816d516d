import { type BodyReach, keyIn } from '../../../operations/acts-on-key.ts'
import type { CheckTargetSet, OperationCheck, Precondition } from '../../../operations/notation.ts'
import type { Operation } from '../../../operations/table.ts'
import { hasTenant } from '../entities/lookup-rules.ts'
import { compileCondition } from './compile-condition.ts'
import { compilePermissions, compileReference } from './compile-permission.ts'
import { compileCrossTenant, compileTemplate } from './compile-template.ts'
import type {
  CompiledCheck,
  CompiledChecks,
  CompiledPrecondition,
  Preconditions,
  RequiredEntity,
} from './compiled-check.ts'
import type { Permission, Reference } from './compiled-permission.ts'
import type { NamingScope } from './naming-scope.ts'
import { isSameReference } from './references.ts'
import { NO_ROWS } from './refusals.ts'

/** Compiles the checks of an operation. @throws Error if the notation does not know a text, or a text names something that does not exist */
export function compileChecks(operation: Operation): CompiledChecks {
  const parameters = parametersOf(operation.template)
  const hasBody = operation.method === 'POST' || operation.method === 'PUT'
  const operationScope = { parameters, hasBody, each: null, isAfter: false }
  const named = operation.checks.map((check) => namesOf(check, operationScope))
  const entity = operation.loads === undefined ? null : compileReference(operation.loads, operationScope)
  const scope = { ...operationScope, entities: lookedUpBy(entity, named) }
  const compiled = named.map((names, index) => compileCheck(names, index, { operation, scope }))
  const before = compiled.filter(({ after }) => !after)
  // The responses are compiled even if no check and no entity uses them, so that a mistake in them is found.
  const responses = compiled.length > 0 && entity === null ? null : compileResponses(operation, scope)
  const first = entity === null || responses === null ? [] : [{ reference: entity, when: null, ...responses }]
  return {
    before,
    after: compiled.filter(({ after }) => after),
    preconditions: preconditionsOf(
      requiredBy(before, first),
      (operation.preconditions ?? []).map((one) => compilePrecondition(one, scope)),
    ),
    bodyReach: bodyReachOf(operation),
    empty: operation.empty === undefined ? null : compileTemplate(operation.empty, scope),
  }
}

function bodyReachOf({ method, template, checks, actsOnKey }: Operation): BodyReach | null {
  const isBody = keyIn({ route: `${method} /${template.slice(1)}`, checks }) === 'body'
  return isBody && (actsOnKey === 'all versions' || actsOnKey === 'versions that the body names')
    ? actsOnKey
    : null
}

/** Returns the names of the parameters in a path template. */
export function parametersOf(template: string): ReadonlySet<string> {
  return new Set([...template.matchAll(/:(\w+)/g)].map(([, name = '']) => name))
}

/** The permissions and the entity that a check names, compiled. */
interface CheckNames {
  readonly check: OperationCheck
  readonly permissions: readonly Permission[]
  readonly entity: Reference | null
}

function namesOf(check: OperationCheck, operationScope: Omit<NamingScope, 'entities'>): CheckNames {
  const scope = { ...operationScope, each: check.each ?? null, isAfter: check.after === true }
  return {
    check,
    permissions: compilePermissions(check.allOf ?? check.anyOf ?? [], scope),
    entity: check.loads === undefined ? null : compileReference(check.loads, scope),
  }
}

function lookedUpBy(entity: Reference | null, named: readonly CheckNames[]): readonly Reference[] {
  const ofChecks = named.flatMap((names) => [names.entity, ...referencesIn(names.permissions)])
  return [entity, ...ofChecks].filter((reference) => reference !== null)
}

function referencesIn(permissions: readonly Permission[]): readonly Reference[] {
  return permissions.flatMap(({ attribute }) => (attribute.from === 'lookup' ? [attribute] : []))
}

/** The engine responses of an operation, or of one of its checks. */
type OperationResponses = Pick<Operation, 'notFound' | 'crossTenant'>

function compileResponses(
  { notFound, crossTenant }: OperationResponses,
  scope: NamingScope,
): Pick<CompiledCheck, 'notFound' | 'crossTenant'> {
  return {
    notFound: notFound === undefined ? null : compileTemplate(notFound, scope),
    crossTenant: crossTenant === undefined ? null : compileCrossTenant(crossTenant, scope),
  }
}

function compileCheck(
  { check, permissions, entity }: CheckNames,
  index: number,
  { operation, scope }: { readonly operation: OperationResponses; readonly scope: NamingScope },
): CompiledCheck {
  const { when, each = null } = check
  const after = check.after === true
  const isFound = check.foundBy === 'query'
  return {
    index,
    permissions,
    globalChecks: permissions
      .filter(
        ({ attribute }) => isFound || !(attribute.from === 'lookup' && MAY_BE_MISSING.has(attribute.lookup)),
      )
      .map(({ resource, permission }) => ({ resource, permission, id: null })),
    mode: check.allOf === undefined ? 'any' : 'all',
    listsAlternatives: check.wording === 'alternatives',
    admin: check.admin === true,
    when: when === undefined ? null : compileCondition(when),
    each,
    list: listOf(each),
    needsTarget: each === 'versionsOfKey',
    denied: check.denied,
    // A response that the check does not define is taken from its operation.
    ...compileResponses({ ...operation, ...check }, { ...scope, each, isAfter: after }),
    isFound,
    exempt: check.exempt ?? null,
    entity,
    after,
    isUnselected: check.beforeSelection === true,
  }
}

/** Returns the place of a set that is a list in the request, or null if the set has to be found. */
function listOf(each: CheckTargetSet | null): CompiledCheck['list'] {
  const [, from, name] = /^(body|query):(\w+)\[\]$/.exec(each ?? '') ?? []
  return name === undefined ? null : { from: from === 'query' ? 'query' : 'body', name }
}

/** Entities that may have no definition or instance. A grant on all definitions does not cover them. */
const MAY_BE_MISSING: ReadonlySet<string> = new Set(['task', 'variableInstance', 'operationLogEntry'])

/** Returns every entity that the request names and the checks look up. Each entity occurs once. */
function requiredBy(
  checks: readonly CompiledCheck[],
  first: readonly RequiredEntity[],
): readonly RequiredEntity[] {
  const entities = [...first]
  for (const { permissions, when, notFound, crossTenant } of checks) {
    for (const reference of referencesIn(permissions)) {
      const isKnown = entities.some((one) => isSameReference(one.reference, reference))
      if (reference.by.from !== 'each' && !isKnown) entities.push({ reference, when, notFound, crossTenant })
    }
  }
  return entities
}

function compilePrecondition(
  { when, denied, afterPermission }: Precondition,
  scope: NamingScope,
): CompiledPrecondition {
  return {
    when: compileCondition(when),
    response: compileTemplate(denied, scope),
    afterPermission: afterPermission === true,
  }
}

function preconditionsOf(
  entities: readonly RequiredEntity[],
  responses: readonly CompiledPrecondition[],
): Preconditions {
  const tenanted = entities.filter(
    ({ reference, crossTenant }) => crossTenant !== 'ignored' && hasTenant(reference),
  )
  return {
    entities,
    responses,
    isTenanted: tenanted.length > 0 || responses.some(({ when }) => when.isOfTenant),
    hasPostconditions:
      tenanted.some(({ crossTenant }) => crossTenant === NO_ROWS) ||
      responses.some(({ afterPermission }) => afterPermission),
  }
}
