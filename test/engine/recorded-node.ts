import type { Test } from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { startChangingProxy } from './changing-proxy.ts'

/** A proxy in front of a node, with the ids of the external tasks that the node has locked and completed. */
export interface RecordedNode {
  /** The base URL of the node, at the proxy. */
  readonly base: string
  readonly locked: ReadonlySet<string>
  readonly completed: ReadonlySet<string>
}

export async function startRecordedNode(t: Test, node: string): Promise<RecordedNode> {
  const locked = new Set<string>()
  const completed = new Set<string>()
  const proxy = await startChangingProxy(node, (path, body) => {
    const [, id] = /^\/external-task\/([^/]+)\/complete$/.exec(path) ?? []
    // A successful completion has no body, and an error has one.
    if (id !== undefined && body === '') completed.add(id)
    if (path === '/external-task/fetchAndLock') for (const task of tasksIn(body)) locked.add(task)
    return null
  })
  t.teardown(() => proxy.stop())
  return { base: proxy.base, locked, completed }
}

function tasksIn(body: string): readonly string[] {
  // A node that is shutting down responds with an HTML page.
  const tasks: unknown = body.startsWith('[') ? JSON.parse(body) : null
  return Array.isArray(tasks) ? tasks.flatMap((task) => (isRecord(task) ? [String(task['id'])] : [])) : []
}
