import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { until } from './cache-harness.ts'
import { type GatewayOptions, openGateway, type OpenGateway } from './open-gateway.ts'
import { recordsOf } from './people.ts'
import { type RawAnswer, speak } from './raw.ts'

/** A gateway that listens, and counts the requests that its framework receives. */
export interface CountedGateway extends OpenGateway {
  /** The number of requests that the framework has received, including those that the fast path has handed over. */
  readonly routed: () => number
}

/** Two gateways with the same configuration, each with a sandbox of its own. Only one of them has a fast path. */
export interface BothWays {
  readonly fast: CountedGateway
  readonly slow: CountedGateway
  /** Sends the same bytes to both, each on a new connection. */
  readonly send: (bytes: string) => Promise<{ readonly fast: Outcome; readonly slow: Outcome }>
}

/** The responses to a request, without values that depend on the time or on chance. */
export type Outcome = readonly RawAnswer[]

export async function openBothWays(t: Test, options: GatewayOptions = {}): Promise<BothWays> {
  const fast = await openCounted(t, options)
  const slow = await openCounted(t, { ...options, fastPath: false })
  return {
    fast,
    slow,
    send: async (bytes) => ({ fast: await sent(fast, bytes), slow: await sent(slow, bytes) }),
  }
}

export async function openCounted(t: Test, options: GatewayOptions = {}): Promise<CountedGateway> {
  const gateway = await openGateway(t, { ...options, listen: true })
  const { app } = gateway
  const routing = app.routing.bind(app)
  let count = 0
  app.routing = (request, response) => {
    count += 1
    routing(request, response)
  }
  return { ...gateway, routed: () => count }
}

/** Replaces the records of a gateway that watches them. */
export async function replaceRecords({ dependencies }: OpenGateway, lines: readonly string[]): Promise<void> {
  const { records } = dependencies.config.authorization
  if (records.source !== 'file') throw new Error('the records are in no file')
  const engine = dependencies.engines.get('default')
  const before = engine?.recordsVersion()
  writeFileSync(records.file, `${JSON.stringify({ authorizations: recordsOf(lines) })}\n`)
  await until(() => engine?.recordsVersion() !== before, 10_000)
}

async function sent({ origin }: OpenGateway, bytes: string): Promise<Outcome> {
  const answers = await speak(origin, bytes)
  return answers.map(({ status, headers, body }) => ({
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, steady(value)])),
    body: steady(body),
  }))
}

/** Replaces times and random ids: two gateways never get them equal. */
function steady(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\bttl=\d+|;t=\d+/g, '')
    .replaceAll(/^\d{1,4}$/g, 'NUMBER')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, 'DATE')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'NODE')
}

/** `policy` depends on the paths of the files and on the addresses of the nodes. */
const UNSTEADY_MEMBERS: ReadonlySet<string> = new Set(['time', 'durationMs', 'writer', 'digest', 'policy'])

/** Returns the access lines, or the audit lines, without values that depend on the time or on chance. */
export function linesOf({ log }: OpenGateway, stream: 'access' | 'audit'): readonly object[] {
  return log
    .filter((line) => 'durationMs' in line && (line['stream'] === 'audit') === (stream === 'audit'))
    .map((line) =>
      Object.fromEntries(
        Object.entries(line)
          .filter(([name]) => !UNSTEADY_MEMBERS.has(name))
          .map(([name, value]) => [name, typeof value === 'string' ? steady(value) : value]),
      ),
    )
}

/** Returns the counters and gauges of requests, and the numbers of the measured durations. */
export async function countsOf({ dependencies }: OpenGateway): Promise<readonly string[]> {
  const text = await dependencies.metrics.text()
  return text
    .split('\n')
    .filter((line) => /^(?:gateway_|http_)/.test(line))
    .filter(
      (line) => !/_bucket\{|_sum[{ ]|^gateway_(?:pressure|upstream|node|info|connections|slow)/.test(line),
    )
    .map((line) => line.replaceAll(/127\.0\.0\.1:\d+/g, 'NODE'))
    .sort()
}
