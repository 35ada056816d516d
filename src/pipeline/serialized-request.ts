import { objectMembersOf, requestsVariables } from '../operations/serialized-values.ts'
import type { Operation } from '../operations/table.ts'
import { spliceElements, spliceMember } from '../lists/rewrite/narrow.ts'
import { bodyValue } from '../request/body.ts'
import type { AccessRequest } from '../request/access-request.ts'
import { targetPathOf, targetSearchOf, withoutParameter } from '../request/target.ts'
import { isObject } from '../request/value.ts'
import type { EngineDependencies } from './dependencies.ts'

/** Returns whether the gateway changes requests so that the engine creates no objects from stored variables. */
export function readsSerialized({
  engine,
}: {
  readonly engine: Pick<EngineDependencies, 'validation' | 'accepted'>
}): boolean {
  return engine.validation === 'enforce' && !engine.accepted.allowedHazards.has('deserialization')
}

/** Returns a query string without the parameters with which the engine would add variables, and thereby create objects. */
export function withoutAddedVariables(
  { id, method }: Pick<Operation, 'id' | 'method'>,
  search: string,
  query: AccessRequest['query'],
): string {
  if (method === 'POST') return search
  const names = objectMembersOf(id).filter((name) => requestsVariables(query.get(name)))
  return names.reduce(withoutParameter, search)
}

/**
 * Returns a body with which the engine creates no objects from stored variables: a query for tasks without the members that add
 * variables, or topics whose tasks contain objects as text. `body` is the parsed copy. The other bytes stay as they are.
 */
export function withSerializedBody(
  { id, items }: Pick<Operation, 'id' | 'items'>,
  bytes: Buffer,
  body: unknown,
): Buffer {
  if (items?.form === 'locks') return withSerializedTopics(bytes, bodyValue(body, 'topics'))
  const names = objectMembersOf(id).filter((name) => requestsVariables(bodyValue(body, name)))
  return names.reduce<Buffer>((sent, name) => spliceMember(sent, name, undefined), bytes)
}

const DESERIALIZE = 'deserializeValues'

/** The schema of the body has refused each value that the engine would refuse. All others except false and null may be true. */
function withSerializedTopics(bytes: Buffer, topics: unknown): Buffer {
  if (!Array.isArray(topics)) return bytes
  const isFlagged = topics.map(
    (topic: unknown) => isObject(topic) && (bodyValue(topic, DESERIALIZE) ?? false) !== false,
  )
  if (!isFlagged.includes(true)) return bytes
  return spliceElements(bytes, 'topics', (topic, at) =>
    isFlagged[at] === true ? spliceMember(topic, DESERIALIZE, false) : topic,
  )
}

/** The parts of a request to the engine that contain a query. */
interface SentQuery {
  readonly method: string
  readonly path: string
  readonly body: Buffer | null
}

/** Returns a request for tasks without the members that add variables, whether it is sent as a GET or as a POST. */
export function plainTasksRequest<Sent extends SentQuery>(
  operation: Pick<Operation, 'id'>,
  sent: Sent,
): Sent {
  const names = objectMembersOf(operation.id)
  const { method, path, body } = sent
  if (method === 'POST')
    return {
      ...sent,
      body: names.reduce<Buffer | null>((rest, name) => spliceMember(rest, name, undefined), body),
    }
  return { ...sent, path: targetPathOf(path) + names.reduce(withoutParameter, targetSearchOf(path)) }
}
