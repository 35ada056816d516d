import { isRecord } from '../../src/request/value.ts'
import { exchange } from './exchange.ts'

/** Returns the topics of the completed tasks in the engine's history, by business key. A task that was completed twice appears twice. */
export async function completionsOf(
  base: string,
  processDefinitionKey: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const ask = async (path: string, body: object): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const { body: rows } = await exchange(base, { method: 'POST', path, body })
    return Array.isArray(rows) ? rows.filter(isRecord) : []
  }
  const instances = await ask('/history/process-instance', { processDefinitionKey })
  const log = await ask('/history/external-task-log', { successLog: true })
  const keys = instances.map(({ businessKey }) => String(businessKey))
  if (new Set(keys).size !== keys.length) throw new Error('A business key was started twice')
  return new Map(
    instances.map(({ id, businessKey }) => [
      String(businessKey),
      log
        .filter(({ processInstanceId }) => processInstanceId === id)
        .map(({ topicName }) => String(topicName)),
    ]),
  )
}
