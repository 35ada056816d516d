import {
  PUBLISHED_IDS,
  PUBLISHED_SCHEMAS,
  publishedOperation,
  publishedSchema,
  type PublishedType,
} from '../../../operations/published/facts.ts'
import {
  anything,
  boolean,
  date,
  integer,
  type JavaType,
  list,
  long,
  map,
  object,
  string,
} from './jackson.ts'
import { decisionSorts } from './history-queries.ts'
import { sortMembers, sortsOf } from './sorting.ts'

/*
 * The types of the bodies, from the facts about the published API.
 * `test/engine/published/odd-bodies.test.ts` compares them with a running engine.
 */

/** Members that the engine reads as another type than the published one, and members that are not published, by schema. */
const ENGINE_MEMBERS: Readonly<Record<string, Readonly<Record<string, JavaType>>>> = {
  AuthorizationUpdateDto: { id: string, type: integer, removalTime: date, rootProcessInstanceId: string },
  // The type of the query depends on `resourceType`.
  CreateFilterDto: { query: anything },
  HistoricDecisionInstanceQueryDto: sortMembers(decisionSorts),
  HistoricExternalTaskLogQueryDto: sortMembers(sortsOf('HistoricExternalTaskLogQueryDto')),
  // Whether a value fits is known only when it is compared.
  HistoricVariableInstanceQueryDto: { variableValue: anything },
  JobConditionQueryParameterDto: { value: anything },
  // The engine converts this text to a date later, with a message of its own.
  ProcessDefinitionSuspensionStateDto: { executionDate: string },
  // Variables by name.
  ProcessInstanceModificationInstructionDto: { variables: map(referenceTo('TriggerVariableValueDto')) },
  ProcessInstanceQueryDto: sortMembers(sortsOf('ProcessInstanceQueryDto')),
  // The engine reads this body as that of any other start.
  StartProcessInstanceFormDto: {
    caseInstanceId: string,
    skipCustomListeners: boolean,
    skipIoMappings: boolean,
    startInstructions: list(map(anything)),
    withVariablesInReturn: boolean,
  },
  // Operaton has another name for this member and ignores it.
  TaskDto: { camundaFormRef: anything },
  // `created`, `due` and `followUp` are older names of `createdOn`, `dueDate` and `followUpDate`.
  TaskQueryDto: {
    created: date,
    due: date,
    followUp: date,
    followUpBefore: date,
    withCommentAttachmentInfo: boolean,
    ...sortMembers(sortsOf('TaskQueryDto')),
  },
}

/** Bodies that the engine also reads from a single value, with the type of the value. */
const SINGLE_VALUES: Readonly<Record<string, JavaType>> = {
  HistoryTimeToLiveDto: integer,
  TelemetryConfigurationDto: boolean,
}

/** The types of published kinds without parts. */
const PLAIN = { any: anything, boolean, number: anything, object: map(anything) }

const SCHEMAS: ReadonlyMap<string, JavaType> = new Map(
  PUBLISHED_SCHEMAS.map((name) => [name, object(memberTypesOf(name))]),
)

/**
 * Returns the type of the bodies of a schema.
 * @throws Error if there is no such schema
 */
export function publishedType(schema: string): JavaType {
  const type = SCHEMAS.get(schema)
  if (type === undefined) throw new Error(`There is no published schema ${schema}`)
  return type
}

interface PublishedBody {
  readonly type: JavaType
  /** The path contains the key of a definition. */
  readonly isByKey: boolean
}

/** The JSON bodies by operationId. Operations and members that only some versions of the engine have are left out. */
export const PUBLISHED_BODIES: ReadonlyMap<string, PublishedBody> = new Map(
  PUBLISHED_IDS.flatMap((id): [string, PublishedBody][] => {
    const body = bodyOf(id)
    return body === null ? [] : [[id, body]]
  }),
)

function bodyOf(operationId: string): PublishedBody | null {
  const { body, consumes, route = '', versions } = publishedOperation(operationId) ?? {}
  if (body?.kind !== 'schema' || consumes !== 'application/json' || versions?.since !== null) return null
  return { type: bodyTypeOf(body), isByKey: route.includes('/key/{key}/') }
}

function bodyTypeOf(body: Extract<PublishedType, { readonly kind: 'schema' }>): JavaType {
  const type = typeOf(body)
  const single = SINGLE_VALUES[body.name]
  if (single === undefined) return type
  return (value, depth, isDate) => (typeof value === 'object' ? type : single)(value, depth, isDate)
}

/**
 * Returns the types of the members of a schema, by name. Members that only some versions of the engine have are left out: the others
 * ignore such a member, whatever its value.
 */
export function memberTypesOf(schema: string): Readonly<Record<string, JavaType>> {
  const fields = publishedSchema(schema)
  const isSorted = schema.endsWith('QueryDto') && fields.has('sorting')
  return {
    ...Object.fromEntries(
      [...fields]
        .filter(([, { versions }]) => versions.since === null && versions.until === null)
        .map(([name, { type }]) => [name, typeOf(type)]),
    ),
    ...(isSorted && sortMembers()),
    ...ENGINE_MEMBERS[schema],
  }
}

function typeOf(type: PublishedType): JavaType {
  if (type.kind === 'list') return list(typeOf(type.items))
  if (type.kind === 'map') return map(typeOf(type.values))
  if (type.kind === 'schema') return referenceTo(type.name)
  if (type.kind === 'integer') return type.format === 'int32' ? integer : long
  // The engine checks the permitted values of a text later, with messages of its own.
  if (type.kind === 'string') return type.format === 'date-time' ? date : string
  return PLAIN[type.kind]
}

/** Returns the type of a schema that may not be read yet: a query contains queries of its own type. */
function referenceTo(schema: string): JavaType {
  return (value, depth, isDate) => SCHEMAS.get(schema)?.(value, depth, isDate) ?? null
}
