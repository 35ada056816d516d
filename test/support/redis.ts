import { tmpdir } from 'node:os'
import { startChild } from '../engine/child.ts'
import type { Child } from '../engine/child.ts'
import { freePort } from './free-port.ts'

export interface RedisOptions {
  /** A free one when not given. */
  readonly port?: number
  /** Listens for TLS alone; its certificate is in `args`. */
  readonly hasTls?: boolean
  /** More of redis.conf, as `--requirepass secret`. */
  readonly args?: readonly string[]
}

/** A Redis server of the test's own, on 127.0.0.1, that keeps nothing on disk. */
export interface Redis extends Omit<Child, 'ready'> {
  readonly url: string
  readonly port: number
}

export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  // It knows no "any free port": for it, port 0 means no TCP at all.
  const port = options.port ?? (await freePort())
  const { ready: _, ...child } = await startChild({
    command: 'redis-server',
    args: [...settingsOf(port, options.hasTls ?? false), ...(options.args ?? [])],
    ready: /Ready to accept connections/,
    withinMs: 10_000,
  })
  return { ...child, port, url: `redis://127.0.0.1:${port}` }
}

function settingsOf(port: number, hasTls: boolean): string[] {
  return [
    ...(hasTls
      ? ['--port', '0', '--tls-port', String(port), '--tls-replication', 'yes']
      : ['--port', String(port)]),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    tmpdir(),
    // A replica writes what it is sent: no other server may find it, and nothing of it stays.
    '--dbfilename',
    `engine-gateway-${port}.rdb`,
    '--rdb-del-sync-files',
    'yes',
  ]
}
