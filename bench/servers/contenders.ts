import { OWN, type Plan } from '../part.ts'
import { type Gateway, type Settings, startGateway } from './gateway.ts'
import { type Nginx, startNginx } from './nginx.ts'
import { CORES, type Server, startScript } from './processes.ts'

/** The names of the other servers in rows. */
export const DISPATCH = 'Fastify, undici dispatch'
export const PROXY = '@fastify/http-proxy'
export const NGINX = 'nginx'

/** The running servers that are compared, by name, and the engine behind them. */
export interface Contenders {
  readonly stub: Server
  /** The gateways of all checkouts, and those with further flags. */
  readonly gateways: readonly { readonly name: string; readonly server: Gateway }[]
  readonly peers: Readonly<Record<'dispatch' | 'proxy', Server>>
  /** Null if nginx is not installed. */
  readonly nginx: Nginx | null
}

export interface ContenderOptions {
  /** The core of the measured servers. */
  readonly core?: number | null
  readonly settings?: Settings
  readonly records?: readonly Settings[]
  /** Flags of Node.js that each gateway has in addition to those of the image. */
  readonly gatewayFlags?: readonly string[]
  /** Sets of further flags of Node.js. A gateway is started for each of them. */
  readonly flags?: readonly string[]
}

/** Starts the engine, the gateways and the servers that they are compared with. */
export async function startContenders(plan: Plan, options: ContenderOptions = {}): Promise<Contenders> {
  const { core = CORES.server, settings = {}, records, gatewayFlags = [], flags = [] } = options
  const stub = await startScript('stub.ts', CORES.load)
  const upstream = `http://127.0.0.1:${stub.port}`
  const common = { directory: plan.directory, core, nodes: [`${upstream}/engine-rest`], settings }
  const gateways: { name: string; server: Gateway }[] = []
  for (const { name, path } of plan.gateways)
    for (const further of name === OWN ? ['', ...flags] : ['']) {
      const server = await startGateway({
        ...common,
        checkout: path,
        flags: [...gatewayFlags, ...further.split(' ').filter((flag) => flag !== '')],
        ...(records === undefined ? {} : { records }),
      })
      gateways.push({ name: `${name} ${further}`.trim(), server })
    }
  const [dispatch, proxy] = [
    await startScript('one-dispatch.ts', core, ['--upstream', upstream]),
    await startScript('http-proxy.ts', core, ['--upstream', upstream]),
  ]
  const nginx = await startNginx(plan.directory, stub.port, core)
  return { stub, gateways, peers: { dispatch, proxy }, nginx }
}

/** Returns the servers that pass requests through, by their names in rows. */
export function proxiesOf({ gateways, peers, nginx }: Contenders) {
  return [
    ...gateways,
    { name: DISPATCH, server: peers.dispatch },
    { name: PROXY, server: peers.proxy },
    ...(nginx === null ? [] : [{ name: NGINX, server: nginx.passing }]),
  ]
}
