import { UNKNOWN_COMMAND } from '../../../operations/job-command-names.ts'
import { stringIn, stringOf } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'
import { entityIn, type Item } from './lookup-response.ts'

/**
 * Returns the command of a job without a process definition, by the type of its handler. Returns `unknown` if nothing in the
 * engine shows it. Returns null if the job has a process definition, because the command is then part of that process. A job
 * of a batch has a job definition, whose type is that of the handler. The command of any other job is only in the job log,
 * which the engine writes at history level full.
 */
export async function jobCommandOf(job: Item, read: ReadEngine): Promise<string | null> {
  if (stringOf(job['processDefinitionKey']) !== null) return null
  const definitionId = stringOf(job['jobDefinitionId'])
  const command =
    definitionId === null
      ? await loggedCommand(stringOf(job['id']), read)
      : await definedCommand(definitionId, read)
  return command ?? UNKNOWN_COMMAND
}

async function definedCommand(id: string, read: ReadEngine): Promise<string | null> {
  const path = `/job-definition/${encodeURIComponent(id)}`
  const shape = { named: { id }, texts: ['jobType'] }
  return stringIn(entityIn(await read(path), { path, shape }), 'jobType')
}

async function loggedCommand(jobId: string | null, read: ReadEngine): Promise<string | null> {
  if (jobId === null) return null
  const items = await read(`/history/job-log?jobId=${encodeURIComponent(jobId)}&maxResults=1`)
  const item: unknown = Array.isArray(items) ? items[0] : null
  // An engine that ignores the parameter would respond with another job.
  return stringIn(item, 'jobId') === jobId ? stringIn(item, 'jobDefinitionType') : null
}
