import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildGateway } from './build.ts'
import { type Child, startChild } from './child.ts'

const ROOT = new URL('../../', import.meta.url).pathname

export interface GatewayProcessOptions {
  /** Base paths of the nodes of engine `default`. */
  readonly nodes: readonly string[]
  /** Further members of engine `default`, as in `gauges: {}`. */
  readonly engine?: string
  /** Further top-level members of the configuration, as YAML. */
  readonly settings?: string
  /** Who may come and what they may do: `identity` and `authorization`, as YAML. Default: the demo's users and records. */
  readonly access?: string
  /** Files and sockets it may have open at once. Default: what the system allows. */
  readonly maxOpenFiles?: number
  /** Compiled and with the options of the image. Default: from its sources. */
  readonly asImage?: boolean
  /** Of the runtime, as `--max-old-space-size=256`. */
  readonly nodeArgs?: readonly string[]
}

/** A gateway as operators run it: a process of its own, with the demo's users and records if not told otherwise. */
export interface GatewayProcess extends Omit<Child, 'ready'> {
  readonly address: string
  readonly adminAddress: string
  /** The base path of the default engine. */
  readonly base: string
  /** Those of an administrator. */
  readonly headers: Readonly<Record<string, string>>
  /** Resident memory: what it has now, and the most it ever had. */
  readonly memory: () => Promise<{ readonly bytes: number; readonly peakBytes: number }>
  /** From here on the most memory counts anew. */
  readonly forgetPeak: () => Promise<void>
}

export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const { maxOpenFiles, asImage = false, nodeArgs = [] } = options
  const command = asImage ? await imageCommand() : [join(ROOT, 'src/main.ts')]
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  const file = join(folder, 'gateway.yaml')
  await writeFile(file, configOf(options))
  const limit = maxOpenFiles === undefined ? '' : `ulimit -n ${maxOpenFiles} && `
  const { ready, ...child } = await startChild({
    // Without the options by which the test runner would watch it.
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
    stop: async () => {
      await child.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** What follows `node` in the entry point of the Dockerfile, with the main file compiled for the test. */
async function imageCommand(): Promise<readonly string[]> {
  const [, words = ''] =
    /^ENTRYPOINT \["node", (.*)"dist\/main\.js"/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  return [...words.matchAll(/"([^"]+)"/g)].map(([, word = '']) => word).concat(await buildGateway())
}

const DEMO = `
identity: { source: file, file: ${ROOT}config/users.yaml }
authorization: { records: { source: file, file: ${ROOT}config/authorizations.yaml } }
`

function configOf({ nodes, engine = '', settings = '', access = DEMO }: GatewayProcessOptions): string {
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
