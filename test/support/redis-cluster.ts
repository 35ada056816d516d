import { setTimeout as wait } from 'node:timers/promises'
import { Redis as Client } from 'ioredis'
import type { Test } from 'tap'
import { freePort } from './free-port.ts'
import { makeFolder } from './temporary-folder.ts'
import { type Redis, startRedis } from './redis.ts'

export interface TestCluster {
  readonly masters: readonly Redis[]
  /** One replica for each master, in the same order. Empty unless `hasReplicas` is set. */
  readonly replicas: readonly Redis[]
  /** Addresses as in `cache.redis.cluster.nodes`. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
}

interface ClusterSetup {
  readonly hasReplicas?: boolean
  readonly hasTls?: boolean
  /** Further options of redis.conf for each node. */
  readonly args?: readonly string[]
  /** How the test connects to a node. */
  readonly connect?: (port: number) => Client
}

const SLOTS = 16_384
const MASTERS = 3
/** After this time without contact to a master, the other masters elect its replica. */
const NODE_TIMEOUT_MS = 4000

/** Starts a cluster of three masters that ends with the test. */
export async function startCluster(t: Test, setup: ClusterSetup = {}): Promise<TestCluster> {
  const {
    hasReplicas = false,
    hasTls = false,
    args = [],
    connect = (port) => new Client({ host: '127.0.0.1', port }),
  } = setup
  const servers: Node[] = []
  for (let index = 0; index < (hasReplicas ? 2 : 1) * MASTERS; index += 1)
    servers.push(await startNode(t, args, hasTls))
  const clients = servers.map(({ port }) => connect(port))
  t.teardown(() => clients.forEach((client) => client.disconnect()))
  await join(clients, servers)
  await replicate(clients.slice(0, MASTERS), clients.slice(MASTERS))
  for (const client of clients) client.disconnect()
  return {
    masters: servers.slice(0, MASTERS),
    replicas: servers.slice(MASTERS),
    nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
  }
}

/**
 * Assigns the slots to the first three nodes. Each node gets its own epoch, as `redis-cli --cluster create` does it. If
 * a master fails while epochs are still equal, no replica replaces it, because the masters do not agree on the replica
 * to vote for.
 */
async function join(clients: readonly Client[], servers: readonly Node[]): Promise<void> {
  const size = Math.ceil(SLOTS / MASTERS)
  for (const [index, client] of clients.entries()) await client.cluster('SET-CONFIG-EPOCH', index + 1)
  for (const [index, client] of clients.slice(0, MASTERS).entries())
    await client.cluster('ADDSLOTSRANGE', index * size, Math.min(SLOTS, (index + 1) * size) - 1)
  for (const { port, busPort } of servers.slice(1))
    await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort)
  await untilAll(clients, async (client) => (await nodesOf(client)).length === servers.length)
}

async function replicate(masters: readonly Client[], replicas: readonly Client[]): Promise<void> {
  for (const [index, client] of replicas.entries())
    await client.cluster('REPLICATE', (await masters[index]?.cluster('MYID')) ?? '')
  await untilAll([...masters, ...replicas], async (client) => {
    const info = await client.cluster('INFO')
    // A node that does not require all slots reports "ok" before it knows the owners of the other slots.
    return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`)
  })
  await untilAll(replicas, async (client) =>
    (await client.info('replication')).includes('master_link_status:up'),
  )
}

type Node = Redis & { readonly busPort: number }

async function startNode(t: Test, args: readonly string[], hasTls: boolean): Promise<Node> {
  const busPort = await freePort()
  const folder = makeFolder(t)
  const server = await startRedis({
    hasTls,
    args: [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      String(NODE_TIMEOUT_MS),
      '--cluster-port',
      String(busPort),
      '--dir',
      folder,
      '--cluster-config-file',
      `nodes-${busPort}.conf`,
      '--repl-diskless-sync-delay',
      '0',
      ...args,
    ],
  })
  t.teardown(() => server.stop())
  return { ...server, busPort }
}

async function nodesOf(client: Client): Promise<readonly string[]> {
  return String(await client.cluster('NODES'))
    .trim()
    .split('\n')
    .filter((line) => line.includes('connected') && !line.includes('handshake'))
}

async function untilAll(
  clients: readonly Client[],
  isTrue: (client: Client) => Promise<boolean>,
): Promise<void> {
  for (const client of clients)
    for (let tries = 0; !(await isTrue(client)); tries += 1) {
      if (tries > 600) throw new Error('the cluster was not formed in 30 s')
      await wait(50)
    }
}
