import { instancePermissions, READ_TASK } from './common-permissions.ts'
import type { Check, PermissionTerm } from './notation.ts'
import { formEntryOf, type OperationForm } from './operation-form.ts'
import type { WrittenOperations } from './table.ts'

/** The variables of a task or an execution. The API has them in two scopes each, with the same operations. */
interface VariableScope {
  /** The path of all variables. */
  readonly path: `/${string}/:id/${string}`
  /** The entity that the command loads. */
  readonly entity: keyof typeof ENTITIES
  /** How the engine's messages name the entity. Default: as it is called in `entity`. */
  readonly name?: string
  /** The operations on all variables, on one variable, and on its binary data. */
  readonly operations: {
    readonly list: OperationForm
    readonly modify: OperationForm
    readonly get: OperationForm
    readonly put: OperationForm
    readonly remove: OperationForm
    readonly getData: OperationForm
    readonly postData: OperationForm
  }
}

interface VariableEntity {
  /** The entity whose tenant the engine checks. */
  readonly owner: string
  readonly missing: string
  /** The message if the entity is missing and a variable is removed. */
  readonly missingInRemoval: string
  readonly read: readonly PermissionTerm[]
  readonly update: readonly PermissionTerm[]
}

const ENTITIES = {
  task: {
    owner: 'task',
    missing: "task {id} doesn't exist: task is null",
    missingInRemoval: 'Cannot find task with id {id}: task is null',
    read: READ_TASK,
    update: [
      'TASK.UPDATE_VARIABLE path:id',
      'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
      'TASK.UPDATE path:id',
      'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
    ],
  },
  execution: {
    owner: 'process instance',
    missing: "execution {id} doesn't exist: execution is null",
    missingInRemoval: "execution {id} doesn't exist: execution is null",
    read: instancePermissions('READ', 'execution'),
    update: [
      'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
      'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
      ...instancePermissions('UPDATE', 'execution'),
    ],
  },
} as const satisfies Readonly<Record<string, VariableEntity>>

/** Returns the seven operations on the variables of a scope. */
export function variableOperations({ path, entity, name = entity, operations }: VariableScope): WrittenOperations {
  const { owner, missing, missingInRemoval, read, update } = ENTITIES[entity]
  const one = `${path}/:varName` as const
  const foreign = (command: 'read' | 'update') =>
    `ENGINE-13034 Cannot ${command} the ${owner} '{id}' because it belongs to no authenticated tenant.`
  // The resource of the API adds a text of its own to the error of a command.
  const failing = (what: string, command: 'read' | 'update', notFound: string = missing) => ({
    notFound: `500 RestException 0: Cannot ${what}: ${notFound}` as const,
    crossTenant: `500 RestException 0: Cannot ${what}: ${foreign(command)}` as const,
  })
  const reads: { readonly checks: readonly Check[] } = { checks: [{ anyOf: read, reads: 'variables', denied: 403 }] }
  const updates: { readonly checks: readonly Check[] } = { checks: [{ anyOf: update, denied: 403 }] }
  const get = { ...reads, ...failing(`get ${name} variable {varName}`, 'read') }
  const put = { ...updates, ...failing(`put ${name} variable {varName}`, 'update') }
  const removal = failing(`delete ${name} variable {varName}`, 'update', missingInRemoval)
  return [
    formEntryOf(operations.list, {
      route: `GET ${path}`,
      ...reads,
      notFound: `500 NullValueException 0: ${missing}`,
      crossTenant: `500 ProcessEngineException 0: ${foreign('read')}`,
    }),
    formEntryOf(operations.modify, {
      route: `POST ${path}`,
      ...updates,
      ...failing(`modify variables for ${name} {id}`, 'update'),
    }),
    formEntryOf(operations.get, { route: `GET ${one}`, ...get }),
    formEntryOf(operations.put, { route: `PUT ${one}`, ...put }),
    formEntryOf(operations.remove, { route: `DELETE ${one}`, body: 'none', ...updates, ...removal }),
    formEntryOf(operations.getData, { route: `GET ${one}/data`, ...get }),
    formEntryOf(operations.postData, { route: `POST ${one}/data`, body: 'multipart', ...put }),
  ]
}
