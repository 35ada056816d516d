import { isRecord } from '../../src/request/value.ts'
import type { Seeded } from '../engine/seed.ts'

type Json = Readonly<Record<string, unknown>>

/** The ids in generated requests that are replaced by those of the entities of `seed`, which differ between two engines. */
const ENTITIES = {
  'seeded-comment': ({ commentId }) => commentId,
  'seeded-decision': ({ decisionDefinitionId }) => decisionDefinitionId,
  'seeded-decision-instance': ({ decisionInstanceId }) => decisionInstanceId,
  'seeded-definition': ({ reviewDefinitionId }) => reviewDefinitionId,
  'seeded-execution': ({ receiveExecutionId }) => receiveExecutionId,
  'seeded-external-task': ({ externalTaskId }) => externalTaskId,
  'seeded-instance': ({ reviewInstanceId }) => reviewInstanceId,
  'seeded-task': ({ taskId }) => taskId,
} as const satisfies Readonly<Record<string, (seeded: Seeded) => string>>

/** The values of path parameters by the start of the path. Other parameters have generated values. */
const PATH_VALUES: readonly (readonly [prefix: string, parameter: string, value: string])[] = [
  ['/decision-definition/{id}', 'id', 'seeded-decision'],
  ['/decision-definition/key/', 'key', 'discount'],
  ['/execution/{id}', 'id', 'seeded-execution'],
  ['/external-task/{id}', 'id', 'seeded-external-task'],
  ['/group/{id}', 'id', 'editors'],
  ['/history/decision-instance/{id}', 'id', 'seeded-decision-instance'],
  ['/history/process-instance/{id}', 'id', 'seeded-instance'],
  ['/process-definition/{id}', 'id', 'seeded-definition'],
  ['/process-definition/key/', 'key', 'review'],
  ['/process-instance/{id}', 'id', 'seeded-instance'],
  ['/task/{id}', 'id', 'seeded-task'],
  ['/user/{id}', 'id', 'demo'],
]

/** Returns the OpenAPI document in which path parameters have the ids of existing entities. */
export function withExistingIds(document: unknown): unknown {
  const paths = isRecord(document) && isRecord(document['paths']) ? document['paths'] : {}
  return {
    ...(isRecord(document) ? document : {}),
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, methods]) => [path, withIdsOf(path, methods)]),
    ),
  }
}

function withIdsOf(path: string, methods: unknown): unknown {
  const values = PATH_VALUES.filter(([prefix]) => path.startsWith(prefix))
  if (values.length === 0 || !isRecord(methods)) return methods
  return Object.fromEntries(
    Object.entries(methods).map(([method, operation]) => [method, withParameters(operation, values)]),
  )
}

function withParameters(operation: unknown, values: typeof PATH_VALUES): unknown {
  if (!isRecord(operation) || !Array.isArray(operation['parameters'])) return operation
  const parameters = operation['parameters'].filter(isRecord).map((parameter: Json) => {
    const [, , value] =
      values.find(([, name]) => parameter['in'] === 'path' && parameter['name'] === name) ?? []
    return value === undefined ? parameter : { ...parameter, schema: { type: 'string', enum: [value] } }
  })
  return { ...operation, parameters }
}

/** Returns a text in which the placeholders are the ids of one engine. */
export function withIds(text: string, seeded: Seeded): string {
  return Object.entries(ENTITIES)
    .toSorted(([one], [other]) => other.length - one.length)
    .reduce((written, [placeholder, idOf]) => written.replaceAll(placeholder, idOf(seeded)), text)
}
