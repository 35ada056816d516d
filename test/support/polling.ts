import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { UpstreamRequest } from '../../src/proxy/wire/upstream-request.ts'
import type { PollRequest } from '../../src/proxy/long-polls/long-polls.ts'
import type { PollEnd } from '../../src/proxy/long-polls/polls.ts'
import type { UnlockResult } from '../../src/proxy/long-polls/unlocks.ts'
import type { PollLimits } from '../../src/proxy/create-upstream.ts'
import type { Upstream } from '../../src/proxy/upstream.ts'
import { openUpstream, type Seen, startNode } from './fake-engine.ts'

export const FETCH = '/external-task/fetchAndLock'

/** A node that holds polls until the test responds to them. It responds to all other requests immediately, and to `…/fails` with 500. */
export interface PollingNode {
  readonly url: string
  /** Polls without a response, in the order in which they arrived. */
  readonly held: UpstreamPoll[]
  /** All requests except polls, as `POST /path`. */
  readonly asked: readonly string[]
  /** The `Authorization` header of each of these requests. */
  readonly askedAs: readonly (string | undefined)[]
  /** Resolves when this number of polls has arrived, counted from the start. */
  readonly came: (count: number) => Promise<void>
  /** Resolves when this number of other requests has arrived. */
  readonly wasAsked: (count: number) => Promise<void>
  /** Sends an empty list to all polls that it holds and to all later ones. */
  readonly end: () => void
}

export interface UpstreamPoll {
  readonly worker: string
  readonly request: Seen
  readonly answer: (body: unknown, status?: number) => void
}

export async function startPollingNode(t: Test): Promise<PollingNode> {
  const held: UpstreamPoll[] = []
  const asked: string[] = []
  const askedAs: (string | undefined)[] = []
  const news = new EventEmitter().setMaxListeners(0)
  let polls = 0
  let isOver = false
  const end = (): void => {
    isOver = true
    for (const one of held.splice(0)) one.answer([])
  }
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise((resolve) => news.once('asked', resolve))
  }
  const { url } = await startNode(t, (request, response) => {
    const { method, url: path, headers, body } = request
    if (path.endsWith(FETCH)) {
      polls += 1
      held.push({ worker: JSON.parse(body.toString()).workerId, request, answer: answerOn(response) })
    } else {
      asked.push(`${method} ${path}`)
      askedAs.push(headers.authorization)
      answerOn(response)({}, statusOf(path))
    }
    if (isOver) end()
    news.emit('asked')
  })
  return {
    url,
    held,
    asked,
    askedAs,
    end,
    came: (count) => until(() => polls >= count),
    wasAsked: (count) => until(() => asked.length >= count),
  }
}

function statusOf(path: string): number {
  if (path.endsWith('/unlock')) return 204
  return path.endsWith('/fails') ? 500 : 200
}

function answerOn(response: ServerResponse): UpstreamPoll['answer'] {
  return (body, status = 200) => {
    response.writeHead(status, status === 204 ? {} : { 'content-type': 'application/json' })
    response.end(status === 204 ? undefined : JSON.stringify(body))
  }
}

export interface Polling {
  readonly upstream: Upstream
  readonly ends: PollEnd[]
  readonly unlocks: UnlockResult[]
}

export function openPolling(
  t: Test,
  nodes: readonly (Pick<PollingNode, 'url'> & Partial<PollingNode>)[],
  limits: Partial<PollLimits>,
): Polling {
  const ends: PollEnd[] = []
  const unlocks: UnlockResult[] = []
  const { upstream } = openUpstream(
    t,
    nodes.map(({ url }) => url),
    {
      polls: {
        maxHoldMs: 60_000,
        perNode: 2,
        waiting: 100,
        unlockAs: { username: 'gateway', password: 'secret' },
        onEnd: (end) => ends.push(end),
        onUnlock: (result) => unlocks.push(result),
        ...limits,
      },
      connections: 2,
    },
  )
  // Runs before the upstream is closed: closing waits for the polls that the nodes hold.
  t.teardown(() => {
    upstream.polls.drain()
    for (const node of nodes) node.end?.()
  })
  return { upstream, ends, unlocks }
}

export interface Asking {
  readonly answer: Promise<{ readonly status: number; readonly body: unknown; readonly node: string | null }>
  readonly leave: () => void
}

/** Sends a client's poll. */
export function poll(
  { polls }: Upstream,
  worker: string,
  holdMs = 60_000,
  asked: Partial<PollRequest> = {},
): Asking {
  const sink = Object.assign(new EventEmitter(), { destroyed: false })
  const upstreamRequest: UpstreamRequest = {
    method: 'POST',
    path: FETCH,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ workerId: worker, asyncResponseTimeout: holdMs })),
    retry: 'unsent',
  }
  const ended = polls.ask({
    upstreamRequest,
    holdMs,
    caller: 'mary',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a response, polls know no more than this
    sink: sink as unknown as PollRequest['sink'],
    limitBytes: 1000,
    ...asked,
  })
  return {
    answer: ended.then(({ response: { status, body }, node }) => ({
      status,
      body: JSON.parse(body.toString()),
      node,
    })),
    leave: () => {
      sink.destroyed = true
      sink.emit('close')
    },
  }
}
