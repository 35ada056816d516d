import type { Test } from 'tap'
import { startNode } from './fake-engine.ts'
import { openGateway } from './open-gateway.ts'

interface GroupResponse {
  readonly status: number
  readonly body: string
}

const OK: GroupResponse = { status: 200, body: '{"version":"7.24.0"}' }

/** Opens a gateway in front of the groups `old` and `new` with one node each. `received` has the group of each request. */
export async function openShifted(
  t: Test,
  shift: Readonly<Record<string, unknown>>,
  engine: Readonly<Record<string, unknown>> = {},
) {
  const received: string[] = []
  const responses: Record<string, GroupResponse> = { old: OK, new: OK }
  const startGroup = (group: string) =>
    startNode(t, (_request, response) => {
      received.push(group)
      const { status, body } = responses[group] ?? OK
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body)
    })
  const nodes = [
    { url: (await startGroup('old')).url, group: 'old' },
    { url: (await startGroup('new')).url, group: 'new' },
  ]
  const gateway = await openGateway(t, {
    engines: { default: { nodes, shift: { to: 'new', ...shift }, ...engine } },
  })
  return { ...gateway, received, responses }
}
