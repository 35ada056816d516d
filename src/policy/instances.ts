import type { Facts, LookUp, ReadEngine } from './lookup.ts'
import { rowsOf, textOf } from './starts.ts'

type Row = Readonly<Record<string, unknown>>

interface Reading {
  readonly read: ReadEngine
  readonly lookUp: LookUp
}

/** The ids asked about in one hop: they must fit a request line of 8 KB. */
const IDS_A_HOP = 100

/** An id that the engine itself gives. Another is asked for alone: it may be too long, or a list by itself. */
const PLAIN = /^[\w-]{1,64}$/

export function* inHops(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += IDS_A_HOP) yield ids.slice(at, at + IDS_A_HOP)
}

/** Instances by their ids, as the engine lists them. */
export async function listInstances(
  ids: readonly string[],
  read: ReadEngine,
): Promise<ReadonlyMap<string, Row>> {
  const found = new Map<string, Row>()
  for (const some of inHops(ids)) {
    const answer = await read(
      `/process-instance?processInstanceIds=${some.map(encodeURIComponent).join(',')}`,
    )
    for (const row of rowsOf(answer)) found.set(textOf(row['id']) ?? '', row)
  }
  return found
}

/** Looks up instances in their order, a hundred in one hop; who stops early asks for no more. */
export async function* instancesNamed(
  ids: readonly string[],
  reading: Reading,
): AsyncGenerator<readonly [id: string, facts: Facts | null]> {
  for (const some of inHops(ids)) {
    const listed = await listInstances(
      some.filter((id) => PLAIN.test(id)),
      reading.read,
    )
    // A database that ignores case lists an id as it is stored: what seems to be missing is asked for by itself.
    for (const id of some)
      yield [id, (await factsIn(listed, id, reading)) ?? (await reading.lookUp('processInstance', id))]
  }
}

/** Facts of executions that a list has given, each row naming its instance. Those that are gone are left out. */
export async function executionsIn(
  rows: readonly Row[],
  member: 'executionId' | 'id',
  reading: Reading,
): Promise<readonly Facts[]> {
  const ids = rows.flatMap((row) => textOf(row['processInstanceId']) ?? [])
  const listed = await listInstances([...new Set(ids)], reading.read)
  const found: Facts[] = []
  for (const row of rows) {
    const processInstanceId = textOf(row['processInstanceId'])
    const instance = await factsIn(listed, processInstanceId ?? '', reading)
    const facts =
      instance === null
        ? await reading.lookUp('execution', textOf(row[member]) ?? '')
        : { ...instance, processInstanceId, tenantId: textOf(row['tenantId']) }
    if (facts !== null) found.push(facts)
  }
  return found
}

/** As a look-up has them; null: it is not listed, or its definition is gone. */
async function factsIn(
  listed: ReadonlyMap<string, Row>,
  id: string,
  { lookUp }: Reading,
): Promise<Facts | null> {
  const { definitionId, tenantId } = listed.get(id) ?? {}
  const definition = typeof definitionId === 'string' ? await lookUp('processDefinition', definitionId) : null
  const key = definition?.['key'] ?? null
  if (typeof definitionId !== 'string' || key === null) return null
  return { definitionId, tenantId: textOf(tenantId), processDefinitionKey: key }
}
