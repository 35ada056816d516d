import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { start } from '../support/start.ts'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { startDatabase } from './database.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname
const HEADERS = { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` }
const STARTS = 12

t.test(
  'two nodes on one database whose registered deployments are different',
  { skip: javaSkip, timeout: 180_000 },
  async (t) => {
    const database = await startDatabase()
    const [one, other] = [await startEngine({ db: database.url }), await startEngine({ db: database.url })]
    const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
    const file = join(folder, 'gateway.yaml')
    await writeFile(file, configOf([one, other]))
    await deploy(other.base, 'review', 'reviewAtOther')
    const running = await start(loadConfig(file), pino({ level: 'silent' }), file)
    t.teardown(async () => {
      await running.drain()
      await Promise.all([one.stop(), other.stop()])
      await database.stop()
      await rm(folder, { recursive: true })
    })
    const base = `${running.address}/engine-rest`

    /** Returns the number of requests that each node served during the starts. */
    async function startsOf(path: string, starts = STARTS): Promise<readonly number[]> {
      const before = await attempts()
      const statuses: number[] = []
      for (let i = 0; i < starts; i += 1) {
        const { status } = await exchange(base, { method: 'POST', path, body: {} }, HEADERS)
        statuses.push(status)
      }
      t.ok(
        statuses.every((status) => status === 200),
        statuses.join(' '),
      )
      const after = await attempts()
      return after.map((count, index) => count - (before[index] ?? 0))
    }

    async function attempts(): Promise<readonly number[]> {
      const text = await (await fetch(`${running.adminAddress}/metrics`)).text()
      return [one, other].map((node) => {
        const series = `gateway_upstream_attempts_total{engine="default",node="${node.base}",result="ok"} `
        const line = text.split('\n').find((each) => each.startsWith(series))
        return line === undefined ? 0 : Number(line.slice(series.length))
      })
    }

    await t.test('starts of a definition go to the node that has its deployment', async (t) => {
      const registered = await exchange(other.base, { method: 'GET', path: '/deployment/registered' })
      t.ok(Array.isArray(registered.body) && registered.body.length > 0, JSON.stringify(registered.body))
      await until(
        async () => ((await startsOf('/process-definition/key/reviewAtOther/start', 1))[1] ?? 0) > 0,
        20_000,
      )
      await delay(1500) // two probe intervals
      const [atOne = 0, atOther = 0] = await startsOf('/process-definition/key/reviewAtOther/start')
      t.ok(atOther >= STARTS, `${atOne} at one, ${atOther} at the other`)
      t.ok(atOne <= 2, `${atOne} at one: its look-ups may be there, starts are not`)
    })

    await t.test('other requests go to both nodes', async (t) => {
      const before = await attempts()
      const isAtBoth = async () => {
        await Promise.all(
          Array.from({ length: 40 }, () => exchange(base, { method: 'GET', path: '/task/count' }, HEADERS)),
        )
        return (await attempts()).every((count, index) => count > (before[index] ?? 0))
      }
      t.ok(await until(isAtBoth, 20_000)) // a node that is slow at first gets fewer requests
    })

    await t.test(
      'a definition deployed through the gateway is started at once at the node of the deployment',
      async (t) => {
        await deploy(base, 'review', 'reviewThrough', HEADERS)
        const counts = await startsOf('/process-definition/key/reviewThrough/start')
        t.ok(Math.max(...counts) >= STARTS, counts.join(' and '))
        t.ok(Math.min(...counts) <= 2, counts.join(' and '))
      },
    )
  },
)

function configOf(nodes: readonly Engine[]): string {
  return `
version: 1
listen: { port: 0 }
admin: { port: 0 }
log: { audit: off }
health: { interval: 500ms, timeout: 5s } # on a busy machine
engines: { default: { nodes: [${nodes.map(({ base }) => `"${base}"`).join(', ')}], deploymentAware: true } }
identity: { source: file, file: ${DEMO}users.yaml }
authorization: { mode: off, records: { source: file, file: ${DEMO}authorizations.yaml } }
`
}

async function deploy(base: string, from: string, key: string, headers = {}): Promise<void> {
  const source = await readFile(join(import.meta.dirname, 'resources', `${from}.bpmn`), 'utf8')
  const form = new FormData()
  form.append('deployment-name', key)
  form.append(
    'model.bpmn',
    new Blob([source.replace(`process id="${from}"`, `process id="${key}"`)]),
    'model.bpmn',
  )
  const { status, body } = await exchange(
    base,
    { method: 'POST', path: '/deployment/create', body: form },
    headers,
  )
  if (status !== 200) throw new Error(`The deployment failed: ${status} ${JSON.stringify(body)}`)
}
