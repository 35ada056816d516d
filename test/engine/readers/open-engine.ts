import type { Test } from 'tap'
import { type EngineOptions, startEngine } from '../engine.ts'
import { CONNECTIONS } from './compare.ts'
import { jsonOf, openWire, type Sent, type Told, type Wire } from './wire.ts'

export interface OpenEngine extends Omit<Wire, 'close'> {
  readonly base: string
  /** Sends a value as JSON and requires success. Resolves to the value of the response. */
  readonly make: (route: string, body?: unknown, headers?: Sent['headers']) => Promise<unknown>
}

/** Opens an engine without authorization that ends with the test. Requests to it are sent byte by byte. */
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

/** Returns the part of an engine's response that can be compared. */
export function answerOf(told: Told): { readonly status: number; readonly body: unknown } {
  return { status: told.status, body: jsonOf(told) ?? told.bytes.toString('utf8').slice(0, 300) }
}

/** Returns one member of each item of a list, in order. */
export function eachOf(rows: unknown, member: string): readonly unknown[] {
  return Array.isArray(rows) ? rows.map((row: unknown) => Object(row)[member]) : []
}
