import type { HazardRule } from '../../operations/hazard-rules.ts'
import { serializedValuesOf } from '../../operations/serialized-values.ts'
import type { Operation } from '../../operations/table.ts'
import { bodyValue } from '../../request/body.ts'
import { withParameter } from '../../request/target.ts'
import { hazard } from './hazards.ts'
import { itemsOf, membersOf } from './schemas/engine-error.ts'

/** Returns a query string with which the engine returns objects as text. All other parameters stay unchanged. */
export function withSerializedValues({ id }: Pick<Operation, 'id'>, search: string): string {
  return serializedValuesOf(id).reduce((sent, [name, value]) => withParameter(sent, name, value), search)
}

/**
 * Checks that a body does not request objects instead of text. Topics of external tasks are the only bodies that can do this, and
 * the engine reads many values of their member as true.
 * @throws GatewayError GW_HAZARD that names the topic
 */
export function checkDeserialization(
  { items }: Pick<Operation, 'items'>,
  body: unknown,
  allowedHazards: ReadonlySet<HazardRule>,
): void {
  if (items?.form !== 'locks' || allowedHazards.has('deserialization')) return
  for (const [index, topic] of itemsOf(bodyValue(body, 'topics')).entries())
    if ((membersOf(topic)['deserializeValues'] ?? false) !== false)
      throw hazard('deserialization', `$.topics[${index}].deserializeValues`)
}
