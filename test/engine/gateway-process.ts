import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildGateway } from './build.ts'
import { type Child, startChild } from './child.ts'
import { exchange } from './exchange.ts'

const ROOT = new URL('../../', import.meta.url).pathname

/** The part of the options that can be changed while the gateway runs. */
export interface GatewaySettings {
  /** The nodes of engine `default`: base URLs, or base URLs with a group. */
  readonly nodes: readonly (
    | string
    | { readonly url: string; readonly group: string; readonly drain?: boolean }
  )[]
  /** Further members of engine `default`, for example `gauges: {}`. */
  readonly engine?: string
  /** Further top-level members of the configuration, as YAML. */
  readonly settings?: string
  /** The members `identity` and `authorization`, as YAML. Default: users and records of the demo. */
  readonly access?: string
}

export interface GatewayProcessOptions extends GatewaySettings {
  /** Maximum number of open files and sockets. Default: the limit of the system. */
  readonly maxOpenFiles?: number
  /** Runs the compiled gateway with the options of the image. Default: runs its sources. */
  readonly asImage?: boolean
  /** Options of Node.js, for example `--max-old-space-size=256`. */
  readonly nodeArgs?: readonly string[]
}

/** A gateway as operators run it: a separate process, by default with the users and records of the demo. */
export interface GatewayProcess extends Omit<Child, 'ready'> {
  readonly address: string
  readonly adminAddress: string
  /** The base URL of the default engine. */
  readonly base: string
  /** Headers with the credentials of an administrator. */
  readonly headers: Readonly<Record<string, string>>
  /** Returns the current and the peak resident memory. */
  readonly memory: () => Promise<{ readonly bytes: number; readonly peakBytes: number }>
  /** Resets the peak of the memory. */
  readonly forgetPeak: () => Promise<void>
  /** Replaces the configuration. */
  readonly reload: (settings: GatewaySettings) => Promise<void>
}

export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const { maxOpenFiles, asImage = false, nodeArgs = [] } = options
  const command = asImage ? await imageCommand() : [join(ROOT, 'src/main.ts')]
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  const file = join(folder, 'gateway.yaml')
  await writeFile(file, configOf(options))
  const limit = maxOpenFiles === undefined ? '' : `ulimit -n ${maxOpenFiles} && `
  const { ready, ...child } = await startChild({
    // Removes the options with which the test runner would instrument the process.
    command: '/bin/sh',
    args: [
      '-c',
      `unset NODE_OPTIONS; ${limit}exec "$0" "$@"`,
      process.execPath,
      ...nodeArgs,
      ...command,
      '--config',
      file,
    ],
    ready: /"address":"([^"]+)","admin":"([^"]+)".*"listening"/,
    withinMs: 30_000,
  })
  const [, address = '', adminAddress = ''] = ready
  return {
    ...child,
    address,
    adminAddress,
    base: `${address}/engine-rest`,
    headers: { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` },
    memory: () => memoryOf(child.pid),
    forgetPeak: () => writeFile(`/proc/${child.pid}/clear_refs`, '5'),
    reload: async (settings) => {
      await writeFile(file, configOf(settings))
      const headers = { 'x-requested-by': 'test' }
      const { status, body } = await exchange(adminAddress, { method: 'POST', path: '/reload', headers })
      if (status !== 200) throw new Error(`The reload failed: ${status} ${JSON.stringify(body)}`)
    },
    stop: async () => {
      await child.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** Returns the words after `node` in the entry point of the Dockerfile, with the main file compiled for the test. */
async function imageCommand(): Promise<readonly string[]> {
  const [, words = ''] =
    /^ENTRYPOINT \["node", (.*)"dist\/main\.js"/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  return [...words.matchAll(/"([^"]+)"/g)].map(([, word = '']) => word).concat(await buildGateway())
}

const DEMO = `
identity: { source: file, file: ${ROOT}config/users.yaml }
authorization: { records: { source: file, file: ${ROOT}config/authorizations.yaml } }
`

function configOf({ nodes, engine = '', settings = '', access = DEMO }: GatewaySettings): string {
  return `
version: 1
listen: { port: 0 }
admin: { port: 0 }
log: { audit: off }
engines: { default: { nodes: ${JSON.stringify(nodes)}, ${engine} } }
${access}
${settings}
`
}

async function memoryOf(pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const bytesOf = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  return { bytes: bytesOf('VmRSS'), peakBytes: bytesOf('VmHWM') }
}
