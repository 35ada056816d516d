import type { Test } from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { until } from '../support/cache-harness.ts'
import { exchange } from './exchange.ts'
import { JOB_TYPES } from './moved-clients.ts'
import type { Group, TwoFamilies } from './two-families.ts'

/** Switches the job executors of two groups with one node each, as the runbook describes. */
export interface JobExecutors {
  readonly activate: (group: Group) => Promise<void>
  readonly deactivate: (group: Group) => Promise<void>
}

/**
 * The REST API cannot switch a job executor, so the node is drained, restarted with another setting, and returned.
 * @param nodes the base URL of each node in the configuration of the gateway
 */
export function createJobExecutors(
  { gateway, restart }: Pick<TwoFamilies, 'gateway' | 'restart'>,
  nodes: Readonly<Record<Group, string>>,
): JobExecutors {
  async function drain(order: object): Promise<unknown> {
    let drained: unknown = null
    // The drain of a node is refused until a probe has found the other node.
    await until(async () => {
      const headers = { 'x-requested-by': 'test' }
      const ask = { method: 'POST', path: '/nodes/drain', headers, body: order } as const
      const { status, body } = await exchange(gateway.adminAddress, ask)
      drained = body
      return status === 200
    })
    return drained
  }
  async function switchTo(group: Group, jobs: boolean): Promise<void> {
    const node = nodes[group]
    const isIdle = async () => {
      const drained = await drain({ node })
      return isRecord(drained) && drained['running'] === 0
    }
    await until(isIdle)
    await restart(group, { jobs })
    await drain({ node, back: true })
  }
  return {
    activate: (group) => switchTo(group, true),
    deactivate: (group) => switchTo(group, false),
  }
}

/** Checks that each job of process 'moved' was executed once, and that both groups have executed jobs if the job executors were switched. */
export async function checkJobs(
  t: Test,
  base: string,
  { instances, isSwitched }: { readonly instances: number; readonly isSwitched: boolean },
): Promise<void> {
  const logOf = async (event: string) => {
    const path = `/history/job-log?processDefinitionKey=moved&${event}=true`
    const { body } = await exchange(base, { method: 'GET', path })
    return Array.isArray(body) ? body.filter(isRecord) : []
  }
  const [created, executed, failed] = [
    await logOf('creationLog'),
    await logOf('successLog'),
    await logOf('failureLog'),
  ]
  t.equal(created.length, JOB_TYPES.length * instances)
  t.same(idsOf(executed), idsOf(created), 'each job was executed once')
  t.same(failed, [], 'no job has failed')
  for (const type of JOB_TYPES)
    t.equal(executed.filter(({ jobDefinitionType }) => jobDefinitionType === type).length, instances, type)
  const countOf = (host: Group) => executed.filter(({ hostname }) => hostname === host).length
  t.comment(`jobs executed at old: ${countOf('old')}; at new: ${countOf('new')}`)
  t.equal(countOf('old') + countOf('new'), executed.length)
  t.equal(countOf('new') > 0, isSwitched, 'the new group executes jobs while its job executor is active')
  t.ok(countOf('old') > 0, 'the old group executes jobs')
  const { body } = await exchange(base, { method: 'GET', path: '/incident/count' })
  t.match(body, { count: 0 }, 'there is no incident')
}

function idsOf(entries: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return entries.map(({ jobId }) => String(jobId)).toSorted()
}
