import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import { type Running, start } from './start.ts'
import { authorizationOf, BASE } from './open-gateway.ts'
import { recordsOf, USERS } from './people.ts'

type Settings = Readonly<Record<string, unknown>>

export const SUCCESSFUL = 'gateway_config_last_reload_successful'
export const APPLIED = 'gateway_config_reload_total{result="applied"}'
export const REFUSED = 'gateway_config_reload_total{result="refused"}'

/** Returns the settings for one engine and for two. */
export function setupsOf(base: string) {
  return {
    ONE: { engines: { default: { nodes: [base] } } },
    TWO: { engines: { default: { nodes: [base] }, second: { nodes: [base] } } },
    ENGINES_OF_TWO: [{ name: 'default' }, { name: 'second' }],
  }
}

export interface Reloadable {
  readonly running: Running
  readonly file: string
  /** Parsed lines of the log. */
  readonly log: readonly Settings[]
  readonly write: (settings: Settings) => Promise<void>
  /** Writes the file and has it reloaded. */
  readonly reload: (
    settings: Settings | string,
  ) => Promise<{ readonly status: number; readonly value: unknown; readonly text: string }>
  readonly ask: (user: string, path: string, init?: RequestInit) => Promise<Response>
  readonly engines: () => Promise<unknown>
  /** Returns the value of a series, given with its labels if it has any. */
  readonly metric: (series: string) => Promise<number | null>
}

/** Writes users and records to files next to `gateway.yaml`. `write` adds further members to the configuration. */
export async function writeSetup(
  t: Test,
): Promise<{ readonly file: string; readonly write: Reloadable['write'] }> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'users.yaml'), JSON.stringify({ users: USERS }))
  await writeFile(join(folder, 'records.yaml'), JSON.stringify({ authorizations: recordsOf([]) }))
  const file = join(folder, 'gateway.yaml')
  return { file, write: (settings) => replaceFile(file, textOf(settings)) }
}

export function textOf(settings: Settings): string {
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    identity: { source: 'file', file: 'users.yaml', remember: '1h' },
    authorization: { records: { source: 'file', file: 'records.yaml' } },
    ...settings,
  }
  return `${JSON.stringify(config)}\n`
}

/** Sends `POST /reload` as the command does. */
export function askToReload(
  { adminAddress }: Pick<Running, 'adminAddress'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${adminAddress}/reload`, {
    method: 'POST',
    headers: { 'x-requested-by': 'a test', ...headers },
  })
}

/** Replaces a file by renaming, as an editor does. No reader sees a partially written file. */
async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}

/** Starts the whole gateway as the process does. It ends with the test. */
export async function startReloadable(t: Test, settings: Settings): Promise<Reloadable> {
  const { file, write } = await writeSetup(t)
  await write(settings)
  const log: Settings[] = []
  const destination = { write: (line: string) => void log.push(JSON.parse(line)) }
  const running = await start(loadConfig(file), createLogger({ level: 'info', destination }), file)
  t.teardown(() => running.drain())
  const ask: Reloadable['ask'] = (user, path, init = {}) =>
    fetch(running.address + BASE + path, {
      ...init,
      headers: { authorization: authorizationOf(user), 'content-type': 'application/json' },
    })
  return {
    running,
    file,
    log,
    write,
    ask,
    reload: async (to) => {
      const before = log.length
      await (typeof to === 'string' ? replaceFile(file, to) : write(to))
      const response = await askToReload(running)
      const text = await response.text()
      // On a busy machine the file watcher may have reloaded the file before.
      const changed = log.slice(before).flatMap((line) => line['changed'] ?? [])
      const value = JSON.parse(text)
      return { status: response.status, value: 'changed' in value ? { ...value, changed } : value, text }
    },
    engines: async () => (await ask('demo', '/engine')).json(),
    metric: async (series) => {
      const text = await (await fetch(`${running.adminAddress}/metrics`)).text()
      const line = text.split('\n').find((one) => one.startsWith(`${series} `))
      return line === undefined ? null : Number(line.slice(series.length + 1))
    },
  }
}
