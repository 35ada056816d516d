import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { loadConfig } from '../../src/config/config.ts'
import { type Running, start } from '../support/start.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname

export interface RealGateway extends Running {
  /** The base URL of the default engine. */
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Starts a gateway with the users and records of the demo, in front of a real engine with the engines `default` and
 * `second`. `extra` has further members of `default`.
 */
export async function startGateway(engineBase: string, extra = ''): Promise<RealGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  const file = join(folder, 'gateway.yaml')
  await writeFile(file, configOf(engineBase, extra))
  const running = await start(loadConfig(file), pino({ level: 'silent' }))
  return {
    ...running,
    base: `${running.address}/engine-rest`,
    headers: { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` },
    drain: async () => {
      await running.drain()
      await rm(folder, { recursive: true })
    },
  }
}

function configOf(engineBase: string, extra: string): string {
  return `
version: 1
listen: { port: 0 }
admin: { port: 0 }
log: { audit: off }
engines:
  default: { nodes: ["${engineBase}"]${extra} }
  second: { nodes: ["${engineBase}"], remoteName: second }
identity: { source: file, file: ${DEMO}users.yaml }
authorization: { records: { source: file, file: ${DEMO}authorizations.yaml } }
`
}
