import { tmpdir } from 'node:os'
import { startChild } from '../engine/child.ts'
import type { Child } from '../engine/child.ts'
import { freePort } from './free-port.ts'

export interface RedisOptions {
  /** Default: a free port. */
  readonly port?: number
  /** Whether the server listens with TLS only. Its certificate is in `args`. */
  readonly hasTls?: boolean
  /** Further options of redis.conf, for example `--requirepass secret`. */
  readonly args?: readonly string[]
}

/** The test's own Redis server, on 127.0.0.1. It does not keep data on disk. */
export interface Redis extends Omit<Child, 'ready'> {
  readonly url: string
  readonly port: number
}

export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  // Redis cannot choose a free port: port 0 disables TCP.
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
    // A replica writes the data that it receives to disk. No other server may find the file, and it is deleted.
    '--dbfilename',
    `engine-gateway-${port}.rdb`,
    '--rdb-del-sync-files',
    'yes',
  ]
}
