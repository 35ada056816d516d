import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Engine, startEngine } from '../engine/engine.ts'
import { startGateway } from '../engine/gateway.ts'
import { downloadDocument } from '../engine/published/openapi.ts'
import { openWire, type Told, type Wire } from '../engine/readers/wire.ts'
import { seed as seedEngine, type Seeded } from '../engine/seed.ts'
import { type Comparison, reasonOf } from './documented.ts'
import { type GeneratedRequest, generateRequests, isInstalled } from './generated-requests.ts'
import { withExistingIds, withIds } from './placeholders.ts'

const USAGE = `Usage: npm run test:schemathesis -- [options]
  --seed N        default 7: the same seed generates the same requests
  --examples N    random requests for each operation, besides examples and odd values; default 2
  --seconds N     no more requests are generated after this; default 45
  --command PATH  default schemathesis
`
const VERSION = '7.24.0'
/** Longer requests are long polls. They are ended on both sides. */
const MAX_RESPONSE_MS = 3000

/**
 * Sends requests that Schemathesis generates from the published API to an engine, and to the gateway in front of another engine with the
 * same entities. The caller of the gateway is an administrator. Responses must have equal statuses and types of errors, except for the
 * documented reasons. Returns the exit code.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '7' },
      examples: { type: 'string', default: '2' },
      seconds: { type: 'string', default: '45' },
      command: { type: 'string', default: 'schemathesis' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return say(USAGE, 0)
  if (!(await isInstalled(values.command)))
    return say('Skipped: schemathesis is not installed. Install it with `pip install schemathesis`.\n', 0)
  const { document } = await downloadDocument(VERSION)
  const requests = await generateRequests({
    command: values.command,
    document: withExistingIds(document),
    seed: Number(values.seed),
    examples: Number(values.examples),
    seconds: Number(values.seconds),
  })
  const engines = await Promise.all([0, 1].map(() => startEngine({ family: `camunda-${VERSION}` })))
  try {
    const [direct, behind] = engines
    if (direct === undefined || behind === undefined) throw new Error('two engines are needed')
    return await report(await compareAll(requests, direct, behind))
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()))
  }
}

/** Sends each request to both sides, one after the other, because a write changes the responses to later requests. */
async function compareAll(
  requests: readonly GeneratedRequest[],
  direct: Engine,
  behind: Engine,
): Promise<readonly Comparison[]> {
  const gateway = await startGateway(behind.base)
  const [there, here] = [openWire(direct.base, 1), openWire(gateway.base, 1)]
  const seeded = { there: await seedEngine(direct.base), here: await seedEngine(behind.base) }
  const comparisons: Comparison[] = []
  try {
    for (const request of requests) {
      const [engine, answer] = await Promise.all([
        send(there, request, { seeded: seeded.there, headers: {} }),
        send(here, request, { seeded: seeded.here, headers: gateway.headers }),
      ])
      comparisons.push({ request, engine, gateway: answer })
    }
    return comparisons
  } finally {
    there.close()
    here.close()
    await gateway.drain()
  }
}

interface SideOptions {
  readonly seeded: Seeded
  readonly headers: Readonly<Record<string, string>>
}

/** Resolves to null if there is no response in time. */
async function send(
  wire: Wire,
  { method, target, contentType, accept, body }: GeneratedRequest,
  { seeded, headers }: SideOptions,
): Promise<Told | null> {
  const told = wire.ask({
    method,
    path: withIds(target, seeded),
    headers: {
      ...headers,
      ...(accept !== null && { accept }),
      ...(contentType !== null && { 'content-type': contentType }),
    },
    ...(body !== null && { body: Buffer.from(withIds(body.toString('latin1'), seeded), 'latin1') }),
  })
  const late = new Promise<null>((resolve) => setTimeout(resolve, MAX_RESPONSE_MS, null).unref())
  return Promise.race([told, late])
}

async function report(comparisons: readonly Comparison[]): Promise<number> {
  const counts = new Map<string, number>()
  const unexplained: string[] = []
  for (const comparison of comparisons) {
    const reason = reasonOf(comparison)
    if (reason === null) unexplained.push(lineOf(comparison))
    counts.set(reason ?? 'unexplained', (counts.get(reason ?? 'unexplained') ?? 0) + 1)
  }
  const file = join(tmpdir(), 'engine-gateway-schemathesis.txt')
  await writeFile(file, `${unexplained.join('\n')}\n`)
  const lines = [...counts].map(([reason, count]) => `${count}: ${reason}\n`).toSorted()
  const shown = unexplained.slice(0, MAX_SHOWN).map((line) => `${line}\n`)
  const total = `requests: ${comparisons.length}, unexplained differences: ${unexplained.length}, details: ${file}\n`
  return say([...lines, ...shown, total].join(''), unexplained.length === 0 ? 0 : 1)
}

const MAX_SHOWN = 20
const MAX_BODY = 200

function lineOf({ request: { method, target, body }, engine, gateway }: Comparison): string {
  const sent = body === null ? '' : ` ${body.toString('utf8').slice(0, MAX_BODY)}`
  return `${method} ${target}${sent} | engine: ${textOf(engine)} | gateway: ${textOf(gateway)}`
}

function textOf(told: Told | null): string {
  if (told === null) return 'no response'
  const code = told.headers['x-gateway-error']
  return `${told.status} ${typeof code === 'string' ? code : ''} ${told.bytes.toString().slice(0, MAX_BODY)}`
}

function say(text: string, exitCode: number): number {
  process.stdout.write(text)
  return exitCode
}

process.exitCode = await main(process.argv.slice(2))
