import type { AttributePath, Check } from './notation.ts'
import { formEntryOf, type OperationForm } from './operation-form.ts'
import type { PermissionName } from './permissions.ts'
import type { Method, OperationEntry, WrittenOperations } from './table.ts'

interface DefinitionKind {
  readonly name: string
  /** The attribute of the form by id: the key of the definition that the path names by its id. */
  readonly key: AttributePath
  /** The permission with which the forms by key find the definition. */
  readonly read: PermissionName
  /**
   * The forms by key also have the check on READ of the command. It cannot refuse there, because READ on the same key was checked when
   * the definition was found.
   */
  readonly readsAgain: boolean
}

/** The kinds of definitions, by the first part of their paths. */
const KINDS = {
  'decision-definition': {
    name: 'decision definition',
    key: 'decisionDefinition.key',
    read: 'DECISION_DEFINITION.READ',
    readsAgain: false,
  },
  'decision-requirements-definition': {
    name: 'decision requirements definition',
    key: 'decisionRequirementsDefinition.key',
    read: 'DECISION_REQUIREMENTS_DEFINITION.READ',
    readsAgain: false,
  },
  'process-definition': {
    name: 'process definition',
    key: 'processDefinition.key',
    read: 'PROCESS_DEFINITION.READ',
    readsAgain: true,
  },
} as const satisfies Readonly<Record<string, DefinitionKind>>

/** An operation on a definition that the API has three times. All three have the other fields in common. */
interface DefinitionOperation
  extends Omit<OperationEntry, 'route' | 'checks' | 'notFound' | 'crossTenant' | 'actsOnKey' | 'loads' | 'starts'> {
  readonly method: Method
  /** The path below the definition. Default: the path of the definition itself. */
  readonly path?: `/${string}`
  readonly byId: OperationForm
  readonly byKey: OperationForm
  readonly byKeyAndTenant: OperationForm
  /** The checks of the command. `key` is the key of the definition, as each form finds it. */
  readonly checks: (key: AttributePath) => readonly Check[]
  /** The `notFound` of the form by id. */
  readonly notFound: NonNullable<OperationEntry['notFound']>
  /** The `crossTenant` of the form by id. The other forms look for a definition of one tenant, or without one. */
  readonly crossTenant?: NonNullable<OperationEntry['crossTenant']>
  /** The operation starts the process definition. */
  readonly starts?: true
}

/**
 * Returns the three operations on a definition that name it by its id, by its key, and by its key and tenant. The forms by key find the latest
 * version first: without READ on its key they respond as if it did not exist. After that, all three run the same command.
 */
export function definitionOperations(kindName: keyof typeof KINDS, operation: DefinitionOperation): WrittenOperations {
  const { method, path = '', byId, byKey, byKeyAndTenant, checks, notFound, crossTenant, starts, ...shared } = operation
  const kind: DefinitionKind = KINDS[kindName]
  const ofKey = {
    ...shared,
    ...(starts === true && { starts: 'processDefinitionOfKey' as const }),
    checks: checksByKey(kind, checks('path:key')),
    actsOnKey: 'latest version' as const,
  }
  const missing = `404 RestException: No matching ${kind.name} with key: {key} and` as const
  return [
    formEntryOf(byId, {
      ...shared,
      ...(starts === true && { starts: 'processDefinition' as const }),
      route: `${method} /${kindName}/:id${path}`,
      checks: checks(kind.key),
      notFound,
      ...(crossTenant !== undefined && { crossTenant }),
    }),
    formEntryOf(byKey, {
      ...ofKey,
      route: `${method} /${kindName}/key/:key${path}`,
      notFound: `${missing} no tenant-id`,
    }),
    formEntryOf(byKeyAndTenant, {
      ...ofKey,
      route: `${method} /${kindName}/key/:key/tenant-id/:tenantId${path}`,
      notFound: `${missing} tenant-id: {tenantId}`,
    }),
  ]
}

function checksByKey({ read, readsAgain }: DefinitionKind, checks: readonly Check[]): readonly Check[] {
  const find: Check = { name: 'read', anyOf: [`${read} path:key`], denied: 404 }
  const isRead = ({ anyOf }: Check): boolean => anyOf?.length === 1 && anyOf[0] === `${read} path:key`
  return [find, ...checks.filter((check) => !isRead(check) || (readsAgain && check.denied !== find.denied))]
}
