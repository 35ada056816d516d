import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { USER } from '../scenario.ts'
import { freePorts, type Server, startServer } from './processes.ts'

/** The flags of the image. */
export const FLAGS = [
  '--max-semi-space-size=8',
  '--no-allocation-site-pretenuring',
  '--no-separate-gc-phases',
  '--heap-growing-percent=150',
]
const READY_MS = 60_000

/** The only user. The password is the user's name, with the hash that `hash-password` creates. */
const USERS = [
  {
    id: USER,
    passwordHash:
      '$argon2id$v=19$m=19456,t=2,p=1$n5d51TMv/AG5djLMAwEkpQ$Foc8bKXIAy2HHgTTnJmLwO16MRp2kBZMiHu3C3wyRyA',
    groups: ['clerks'],
  },
]

/** The permissions of the user. With the grant on all tasks, a query for tasks is forwarded unchanged, in one request. */
export const RECORDS: readonly Settings[] = [
  { resourceType: 6, resourceId: 'invoice', permissions: ['READ', 'CREATE_INSTANCE'] },
  { resourceType: 8, resourceId: '*', permissions: ['CREATE', 'READ', 'UPDATE'] },
  { resourceType: 10, resourceId: 'dish', permissions: ['READ'] },
  { resourceType: 7, resourceId: '*', permissions: ['READ', 'UPDATE'] },
].map((grant) => ({ type: 1, groupId: 'clerks', ...grant }))

export type Settings = Readonly<Record<string, unknown>>

export interface GatewayOptions {
  /** The folder for the gateway's files. */
  readonly directory: string
  /** The checkout that is started. */
  readonly checkout: string
  readonly core: number | null
  /** The nodes of the engine `default`, for example `http://127.0.0.1:8080/engine-rest`. */
  readonly nodes: readonly string[]
  /** Sections of the configuration that replace those of the benchmark. */
  readonly settings?: Settings
  readonly users?: readonly Settings[]
  readonly records?: readonly Settings[]
  /** The text of the records file, instead of `records`. */
  readonly recordsText?: string
  /** Further flags of Node.js. */
  readonly flags?: readonly string[]
}

export interface Gateway extends Server {
  readonly adminPort: number
  /** The folder with the files `gateway.yaml`, `users.yaml`, `authorizations.yaml` and `gateway.log`. */
  readonly directory: string
}

/** Builds this checkout, because the built files are measured. @throws Error if it cannot be built */
export function buildGateway(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { status } = spawnSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the gateway cannot be built')
}

let started = 0

/** Writes the configuration of a gateway, and returns its file and its ports. Every stage is enabled, as in production. */
export async function writeSettings(options: Omit<GatewayOptions, 'checkout' | 'core' | 'flags'>) {
  const { nodes, settings, users = USERS, records = RECORDS } = options
  const recordsText = options.recordsText ?? JSON.stringify({ authorizations: records })
  started += 1
  const directory = join(options.directory, `gateway-${started}`)
  mkdirSync(directory, { recursive: true })
  const [port = 0, adminPort = 0] = await freePorts(2)
  const config = {
    version: 1,
    listen: { host: '127.0.0.1', port },
    admin: { host: '127.0.0.1', port: adminPort },
    basePath: '/engine-rest',
    engines: { default: { nodes } },
    identity: { source: 'file', file: 'users.yaml' },
    authorization: {
      mode: 'enforce',
      tenants: process.env['BENCH_TENANTS'] ?? 'check',
      records: { source: 'file', file: 'authorizations.yaml' },
    },
    validation: { mode: 'enforce' },
    cache: { memory: { maxBytes: '64MiB' }, redis: null },
    // On a machine with other load, the gateway would refuse requests because its event loop is late.
    limits: { pressure: { eventLoopDelay: null } },
    ...settings,
  }
  const file = join(directory, 'gateway.yaml')
  writeFileSync(file, JSON.stringify(config))
  writeFileSync(join(directory, 'users.yaml'), JSON.stringify({ users }))
  writeFileSync(join(directory, 'authorizations.yaml'), recordsText)
  return { file, directory, port, adminPort }
}

/** Starts a gateway as in production, with its access log in a file, and waits until it is ready. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { file, directory, port, adminPort } = await writeSettings(options)
  const flags = [...FLAGS, ...(options.flags ?? []), ...profileFlags()]
  const server = await startServer({
    command: [process.execPath, ...flags, mainFileOf(options.checkout), '--config', file],
    port,
    core: options.core,
    output: openSync(join(directory, 'gateway.log'), 'w'),
  })
  const deadline = Date.now() + READY_MS
  while (!(await isReady(adminPort))) {
    if (Date.now() > deadline) throw new Error('the gateway is not ready')
    await wait(20)
  }
  return { ...server, adminPort, directory }
}

/** Returns the built file. An earlier checkout may have only the sources. */
function mainFileOf(checkout: string): string {
  const built = join(checkout, 'dist/main.js')
  return existsSync(built) ? built : join(checkout, 'src/main.ts')
}

async function isReady(adminPort: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => null)
  return response?.status === 200
}

/** Returns the text of the metrics. */
export async function metricsOf({ adminPort }: Gateway): Promise<string> {
  return (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
}

/** Returns Node.js flags. With `BENCH_PROFILE=dir`, the gateway writes a CPU profile to this directory when it ends. */
function profileFlags(): readonly string[] {
  const directory = process.env['BENCH_PROFILE']
  return directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`]
}
