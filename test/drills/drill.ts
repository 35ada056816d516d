import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { isMapping } from '../../src/config/mapping.ts'
import { readPage } from '../release/alerts/page.ts'
import { authorizationOf, BASE } from '../support/open-gateway.ts'
import { DEMO_RECORDS, recordsOf, USERS } from '../support/people.ts'
import { type FiringAlert, startPrometheus } from './prometheus.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
/** The timeout of steps that normally take seconds. It is long because the machine may be busy. */
const WITHIN_MS = 180_000

type Settings = Readonly<Record<string, unknown>>

interface DrillOptions {
  readonly alert: string
  /** Settings of the configuration, in addition to users, records, ports and the audit file. */
  readonly settings: Settings
  readonly nodes: readonly string[]
  /** Environment variables for the commands of the runbook, in addition to those of every drill. */
  readonly env?: NodeJS.ProcessEnv
  /** Further targets to scrape, as `127.0.0.1:9090`. */
  readonly targets?: readonly string[]
  /** The folder of the audit file. Default: the folder of the configuration. */
  readonly auditFolder?: string
}

interface AskInit {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Drill {
  readonly folder: string
  readonly gateway: {
    readonly pid: () => number
    readonly startAgain: () => Promise<void>
    readonly kill: () => Promise<void>
  }
  /** Sends a request as a user and reads the response. Resolves to the status, or to 0 if there was no response. */
  readonly ask: (user: string, path: string, init?: AskInit) => Promise<number>
  /** Resolves to the value of a series that the gateway exports, or to null if there is no such series. */
  readonly metric: (series: string) => Promise<number | null>
  /** Returns the parsed lines of the gateway's log. */
  readonly lines: () => readonly Settings[]
  /** Replaces a file in the folder of the configuration with a rename, as an editor does. */
  readonly write: (file: string, text: string) => Promise<void>
  /** Merges settings into the configuration file. */
  readonly change: (settings: Settings) => Promise<void>
  /** Waits until the alert fires. */
  readonly fires: () => Promise<FiringAlert>
  /** Runs the commands under a heading of the runbook page, and applies its YAML settings. Resolves to the output of the commands. */
  readonly follow: (heading: 'Diagnosis' | 'Mitigation') => Promise<string>
  /** Waits until the alert no longer fires. */
  readonly ends: () => Promise<void>
}

/** Starts a gateway and a Prometheus that scrapes it, for a drill with the runbook page of the alert. */
export async function openDrill(t: Test, options: DrillOptions): Promise<Drill> {
  const { alert, nodes } = options
  const folder = await mkdtemp(join(tmpdir(), `drill-${alert}-`))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const files = {
    config: join(folder, 'gateway.yaml'),
    log: join(folder, 'gateway.log'),
    audit: join(options.auditFolder ?? folder, 'audit.jsonl'),
  }
  let settings = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    engines: { default: { nodes } },
    identity: { source: 'file', file: 'users.yaml', remember: '1h' },
    authorization: { records: { source: 'file', file: 'records.yaml' } },
    health: { interval: '1s', timeout: '500ms' },
    log: { audit: files.audit },
    ...options.settings,
  }
  const write: Drill['write'] = async (file, text) => {
    await writeFile(join(folder, `${file}.new`), `${text}\n`)
    await rename(join(folder, `${file}.new`), join(folder, file))
  }
  const change: Drill['change'] = async (changes) => {
    settings = { ...settings, ...merged(settings, changes) }
    await write('gateway.yaml', JSON.stringify(settings))
  }
  await write('users.yaml', JSON.stringify({ users: USERS }))
  await write('records.yaml', JSON.stringify({ authorizations: recordsOf(DEMO_RECORDS) }))
  await writeFile(files.audit, '')
  await change({})
  const { start, kill, pid } = createProcess(t, files)
  const { address, admin } = await start()
  const targets = [new URL(admin).host, ...(options.targets ?? [])]
  const prometheus = await startPrometheus(t, folder, targets)
  const startedAtMs = performance.now()
  const tell = (text: string): void => {
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6)
    for (const line of text.trimEnd().split('\n')) t.comment(`${seconds} s  ${line}`)
  }
  const env = {
    ...process.env,
    PATH: `${await writeCommand(folder)}${delimiter}${process.env['PATH'] ?? ''}`,
    ADMIN: admin,
    GATEWAY: address + BASE,
    CONFIG: files.config,
    LOG: files.log,
    AUDIT: files.audit,
    NODE: nodes[0] ?? '',
    CREDENTIALS: 'demo:demo',
    ...options.env,
  }
  const current = async () => (await prometheus.firing()).find(({ labels }) => labels['alertname'] === alert)
  // Prometheus must scrape and evaluate once before the fault. Until then, it knows of no gateway.
  await wait(3000)
  await found(
    async () => ((await prometheus.firing()).length === 0 ? true : undefined),
    'something fires at first',
  )
  return {
    folder,
    gateway: {
      pid,
      kill,
      startAgain: async () => {
        // The gateway keeps its addresses.
        await change({ listen: { port: portOf(address) }, admin: { port: portOf(admin) } })
        await start()
      },
    },
    write,
    change,
    lines: () => linesIn(readFileSync(files.log, 'utf8')),
    ask: async (user, path, { headers: more, ...init } = {}) => {
      try {
        const headers = { authorization: authorizationOf(user), 'content-type': 'application/json' }
        const response = await fetch(env.GATEWAY + path, {
          ...init,
          headers: { ...headers, ...more },
        })
        await response.arrayBuffer()
        return response.status
      } catch {
        return 0
      }
    },
    metric: async (series) => {
      const text = await (await fetch(`${admin}/metrics`)).text()
      const line = text.split('\n').find((one) => one.startsWith(`${series} `))
      return line === undefined ? null : Number(line.slice(series.length + 1))
    },
    fires: async () => {
      tell('the fault is there')
      const firing = await found(current, `${alert} has not fired`)
      const { labels, annotations } = firing
      tell(`FIRES ${labels['severity']}: ${annotations['summary']} ${annotations['description']}`)
      tell(`runbook: ${annotations['runbook_url']}`)
      t.notMatch(JSON.stringify(annotations), /<no value>|<error/)
      return firing
    },
    follow: async (heading) => {
      const printed: string[] = []
      for (const { language, text } of readPage(alert).sections.get(heading) ?? []) {
        if (language === 'yaml') {
          tell(`${heading}: in the configuration: ${text}`)
          await change(parse(text))
          continue
        }
        tell(`${heading}: $ ${text.trimEnd().split('\n').join('\n           $ ')}`)
        const { stdout, stderr } = await promisify(execFile)('bash', ['-e', '-c', text], { env })
        tell(briefly(stdout + stderr))
        t.ok((stdout + stderr).trim() !== '', `${heading}: its commands print something`)
        printed.push(stdout)
      }
      return printed.join('')
    },
    ends: async () => {
      await found(async () => ((await current()) === undefined ? true : undefined), `${alert} has not ended`)
      tell('ENDED')
      t.pass('the alert has ended')
    },
  }
}

interface Addresses {
  readonly address: string
  readonly admin: string
}

/** Creates the gateway process as an operator starts it. It writes its log to a file. */
function createProcess(t: Test, { config, log }: { readonly config: string; readonly log: string }) {
  let child: ReturnType<typeof spawn> | null = null
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await exit
  }
  t.teardown(kill)
  const start = async (): Promise<Addresses> => {
    const to = openSync(log, 'a')
    const begun = linesIn(readFileSync(log, 'utf8')).length
    child = spawn(process.execPath, [MAIN, '--config', config], { stdio: ['ignore', to, to] })
    return found(async () => {
      if (child?.exitCode !== null) throw new Error(`the gateway has ended: ${readFileSync(log, 'utf8')}`)
      const lines = linesIn(readFileSync(log, 'utf8')).slice(begun)
      const { address, admin } = lines.find(({ msg }) => msg === 'listening') ?? {}
      return typeof address === 'string' && typeof admin === 'string' ? { address, admin } : undefined
    }, 'the gateway does not listen')
  }
  return { pid: () => child?.pid ?? 0, kill, start }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** Writes the command `engine-gateway` as it is on the path of the image. Returns its folder. */
async function writeCommand(folder: string): Promise<string> {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'engine-gateway'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`)
  await chmod(join(bin, 'engine-gateway'), 0o755)
  return bin
}

async function found<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  const endsAtMs = performance.now() + WITHIN_MS
  while (performance.now() < endsAtMs) {
    const value = await look()
    if (value !== undefined) return value
    await wait(250)
  }
  throw new Error(`${what} within ${WITHIN_MS / 1000} s`)
}

function merged(before: Settings, changes: Settings): Settings {
  const entries = Object.entries(changes).map(([key, value]) => {
    const old = before[key]
    return [key, isMapping(old) && isMapping(value) ? { ...old, ...merged(old, value) } : value] as const
  })
  return Object.fromEntries(entries)
}

/** Parses the JSON lines of a log. Other lines, for example those of a failed start, are left out. */
function linesIn(text: string): readonly Settings[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
  return lines.map((line): Settings => JSON.parse(line))
}

/** Returns the first 12 lines, each shortened to 180 characters. */
function briefly(text: string): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, 12).map((line) => (line.length > 180 ? `${line.slice(0, 180)}…` : line))
  return [...shown, ...(lines.length > 12 ? [`… ${lines.length - 12} more`] : [])].join('\n')
}
