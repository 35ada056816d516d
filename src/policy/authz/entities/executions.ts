import type { AccessRequest } from '../../../request/access-request.ts'
import type { LookUps } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { inLists } from './lookup-lists.ts'
import type { Item } from './lookup-response.ts'
import { stringOf } from '../../../request/value.ts'

/** Looks up instances in their order, with one request for each list. A caller that stops early causes no further requests. */
export async function* instancesNamed(
  name: 'processInstance' | 'historicProcessInstance',
  ids: readonly string[],
  { lookUpAll, checkDeadline }: Pick<LookUps, 'lookUpAll'> & Pick<AccessRequest, 'checkDeadline'>,
): AsyncGenerator<readonly [id: string, attributes: Attributes | null]> {
  for (const some of inLists([...new Set(ids)])) {
    const found = await lookUpAll(name, some, checkDeadline)
    for (const id of some) yield [id, found.get(id) ?? null]
  }
}

/** Returns the attributes of executions in a list whose items name their instances. Executions that no longer exist are left out. */
export async function executionsIn(
  items: readonly Item[],
  member: 'executionId' | 'id',
  { lookUp, lookUpAll, checkDeadline }: LookUps & Pick<AccessRequest, 'checkDeadline'>,
): Promise<readonly Attributes[]> {
  const ids = items.flatMap((item) => stringOf(item['processInstanceId']) ?? [])
  const instances = await lookUpAll('processInstance', ids, checkDeadline)
  const found: Attributes[] = []
  for (const execution of items) {
    const processInstanceId = stringOf(execution['processInstanceId'])
    const instance = instances.get(processInstanceId ?? '')
    checkDeadline?.()
    const attributes =
      instance === undefined
        ? await lookUp('execution', stringOf(execution[member]) ?? '')
        : { ...instance, processInstanceId, tenantId: stringOf(execution['tenantId']) }
    if (attributes !== null) found.push(attributes)
  }
  return found
}
