import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis as Client } from 'ioredis'
import type { Test } from 'tap'
import { type Child, startChild } from '../engine/child.ts'
import { freePort } from './free-port.ts'
import { makeFolder } from './temporary-folder.ts'
import { type Redis, startRedis } from './redis.ts'

export interface TestSentinel {
  readonly master: Redis
  readonly replica: Redis
  readonly sentinels: readonly Child[]
  /** Addresses as in `cache.redis.sentinel.nodes`. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
}

interface SentinelSetup {
  /** Further options of redis.conf for the servers that store data, without ports. */
  readonly args?: readonly string[]
  /** Lines of sentinel.conf. */
  readonly lines?: readonly string[]
  readonly sentinels?: number
  /** Whether all servers listen with TLS only. */
  readonly hasTls?: boolean
}

export const MASTER = 'gateways'
/** After this time without a reply of the master, the sentinels elect its replica. */
const DOWN_AFTER_MS = 1000

/** Starts a master with a replica, and sentinels that monitor them. They end with the test. */
export async function startSentinel(t: Test, setup: SentinelSetup = {}): Promise<TestSentinel> {
  const { args = [], lines = [], sentinels: count = 3, hasTls = false } = setup
  const common = ['--repl-diskless-sync-delay', '0', ...args]
  const master = await startRedis({ args: common, hasTls })
  t.teardown(() => master.stop())
  const replica = await startRedis({ args: [...common, '--replicaof', `127.0.0.1 ${master.port}`], hasTls })
  t.teardown(() => replica.stop())
  const folder = makeFolder(t)
  const ports: number[] = []
  const sentinels: Child[] = []
  for (let index = 0; index < count; index += 1) {
    const port = await freePort()
    const file = join(folder, `sentinel-${port}.conf`)
    writeFileSync(
      file,
      `${[...settingsOf({ port, folder, masterPort: master.port, count, hasTls }), ...lines].join('\n')}\n`,
    )
    const sentinel = await startChild({
      command: 'redis-server',
      args: [file, '--sentinel'],
      ready: /\+monitor master/,
      withinMs: 10_000,
    })
    t.teardown(() => sentinel.stop())
    ports.push(port)
    sentinels.push(sentinel)
  }
  return { master, replica, sentinels, nodes: ports.map((port) => ({ host: '127.0.0.1', port })) }
}

/** Waits until each sentinel knows the replica and the other sentinels. Only then can a failover succeed. */
export async function untilWatched({ nodes }: TestSentinel): Promise<void> {
  for (const { host, port } of nodes) {
    const client = new Client({ host, port })
    for (let tries = 0; ; tries += 1) {
      const facts = factsOf(await client.call('SENTINEL', 'MASTER', MASTER))
      if (facts['num-slaves'] === '1' && facts['num-other-sentinels'] === String(nodes.length - 1)) break
      if (tries > 600) throw new Error('the sentinels have not found each other in 30 s')
      await wait(50)
    }
    client.disconnect()
  }
}

function factsOf(reply: unknown): Readonly<Record<string, string>> {
  const words = Array.isArray(reply) ? reply.map(String) : []
  return Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? '']] : [])))
}

interface SentinelConf {
  readonly port: number
  readonly folder: string
  readonly masterPort: number
  readonly count: number
  readonly hasTls: boolean
}

function settingsOf({ port, folder, masterPort, count, hasTls }: SentinelConf): readonly string[] {
  return [
    ...(hasTls ? ['port 0', `tls-port ${port}`] : [`port ${port}`]),
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} ${Math.floor(count / 2) + 1}`,
    `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER} 5000`,
  ]
}
