import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { start } from './start.ts'
import { type Answer, type Ask, exchange } from '../engine/exchange.ts'

export interface RunningGateway {
  /** Sends a request to the default engine, for example `ask('mary:secret', 'GET', '/task')`. */
  readonly ask: (credential: string, method: Ask['method'], path: string, body?: unknown) => Promise<Answer>
  readonly statusOf: (credential: string, path: string) => Promise<number>
  /** Sends a request to the admin listener. */
  readonly admin: (path: string) => Promise<{ readonly status: number; readonly text: string }>
}

/** Starts the whole gateway in front of one engine, as the process does. It ends with the test. */
export async function startGateway(
  t: Test,
  settings: Readonly<Record<string, unknown>>,
): Promise<RunningGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  const file = join(folder, 'gateway.yaml')
  await writeFile(file, JSON.stringify({ version: 1, listen: { port: 0 }, admin: { port: 0 }, ...settings }))
  const running = await start(loadConfig(file), pino({ level: 'silent' }))
  t.teardown(async () => {
    await running.drain()
    await rm(folder, { recursive: true })
  })
  const ask: RunningGateway['ask'] = (credential, method, path, body) =>
    exchange(
      `${running.address}/engine-rest`,
      { method, path, body },
      { authorization: `Basic ${Buffer.from(credential).toString('base64')}` },
    )
  return {
    ask,
    statusOf: async (credential, path) => (await ask(credential, 'GET', path)).status,
    admin: async (path) => {
      const response = await fetch(running.adminAddress + path)
      return { status: response.status, text: await response.text() }
    },
  }
}

/** Returns settings that take users and records from the engine itself. */
export function engineSources(
  base: string,
  {
    identity = {},
    records = {},
    ...settings
  }: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Readonly<Record<string, unknown>> {
  return {
    engines: { default: { nodes: [base] } },
    identity: { source: 'engine', ...identity },
    authorization: { records: { source: 'engine', ...records } },
    ...settings,
  }
}
