import type { Test } from 'tap'
import { type EngineOptions, startEngine } from '../engine.ts'
import { CONNECTIONS } from './compare.ts'
import { jsonOf, openWire, type Sent, type Told, type Wire } from './wire.ts'

export interface OpenEngine extends Omit<Wire, 'close'> {
  readonly base: string
  /** Sends a value as JSON and insists on success; the answer's value. */
  readonly make: (route: string, body?: unknown, headers?: Sent['headers']) => Promise<unknown>
}

/** A bare engine that ends with the test, asked by bytes. */
export async function openEngine(t: Test, options: EngineOptions = {}): Promise<OpenEngine> {
  const engine = await startEngine(options)
  const wire = openWire(engine.base, CONNECTIONS)
  t.teardown(async () => {
    wire.close()
    await engine.stop()
  })
  return {
    base: engine.base,
    ask: wire.ask,
    make: async (route, body, headers = {}) => {
      const [method = '', path = ''] = route.split(' ')
      const told = await wire.ask({
        method,
        path,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      if (told.status < 300) return jsonOf(told)
      throw new Error(`${route}: ${told.status} ${told.bytes.toString()}`)
    },
  }
}

/** What an engine answered, as far as another reader can be compared with it. */
export function answerOf(told: Told): { readonly status: number; readonly body: unknown } {
  return { status: told.status, body: jsonOf(told) ?? told.bytes.toString('utf8').slice(0, 300) }
}

/** One member of each row of a list, in order. */
export function eachOf(rows: unknown, member: string): readonly unknown[] {
  return Array.isArray(rows) ? rows.map((row: unknown) => Object(row)[member]) : []
}
