import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chosenOf, numberOf } from '../arguments.ts'
import { failuresIn, requestText, send } from '../load/send.ts'
import { type Part, type Plan, type Row, type Sample, sampleOf, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { type Gateway, startGateway } from '../servers/gateway.ts'
import { ANY_CORE, CORES, startScript } from '../servers/processes.ts'
import { recordsFile } from '../servers/records-file.ts'

const REQUEST = requestText({ path: '/engine-rest/process-definition/key/invoice' })
/** The file is replaced after this time of a round. */
const REPLACE_AFTER_MS = 1_000
const MAX_READ_MS = 120_000
/** V8 returns the memory of a thread about ten seconds after its end. */
const SETTLE_MS = 15_000
const SAMPLE_MS = 10

/** The waits while a records file is replaced. */
export const reload: Part = {
  name: 'reload',
  title: 'Stalls: replacement of a records file',
  measures:
    'Reads at a constant rate while all records of the gateway are replaced (100,000, with `--quick` 20,000). A wait begins at the moment at ' +
    'which the request was due. `resident` is the memory of the gateway: before the first replacement, the largest value during a replacement, ' +
    'and 15 seconds after the last one.',
  columns: [
    { key: 'max', title: 'longest wait', unit: 'ms' },
    { key: 'p99', title: 'p99', unit: 'ms' },
    { key: 'p50', title: 'p50', unit: 'ms' },
    { key: 'readMs', title: 'until the file is read', unit: 'ms' },
    { key: 'failed', title: 'failed', unit: 'number' },
    { key: 'startSeconds', title: 'CPU time', unit: 's' },
    { key: 'resident', title: 'resident', unit: 'bytes' },
  ],
  compared: 'max',
  options: { records: '', 'per-second': '1000', replacements: '', form: 'plain' },
  run: async (plan) => {
    const rows: Row[] = []
    for (const { name, path } of plan.gateways) rows.push(...(await measure(plan, name, path)))
    return rows
  },
}

async function measure(plan: Plan, server: string, checkout: string): Promise<readonly Row[]> {
  const { isQuick, options, directory, warmUpSeconds } = plan
  const records = numberOf('records', options['records'] || (isQuick ? '20000' : '100000'))
  const replacements = numberOf('replacements', options['replacements'] || (isQuick ? '1' : '3'))
  const perSecond = numberOf('per-second', options['per-second'] ?? '')
  const seconds = isQuick ? 3 : 8
  const stub = await startScript('stub.ts', CORES.load)
  const nodes = [`http://127.0.0.1:${stub.port}/engine-rest`]
  const [form = 'plain'] = chosenOf(options['form'] ?? 'plain', ['plain', 'library'])
  const content = { records, form }
  const gateway = await startGateway({
    directory,
    checkout,
    core: ANY_CORE,
    nodes,
    recordsText: recordsFile(content),
  })
  const startSeconds = gateway.cpuSeconds()
  const load = async (duration: number): Promise<Values> => {
    const result = await send(
      {
        port: gateway.port,
        request: REQUEST,
        perSecond,
        seconds: duration,
        connections: 128,
      },
      CORES.load,
    )
    return { ...result.waits, failed: failuresIn(result) }
  }
  await load(warmUpSeconds)
  const quiet = await sampleOf(() => load(seconds))
  if (!isQuick) await wait(SETTLE_MS)
  const before = gateway.residentBytes()
  const replaced: Sample[] = []
  for (let version = 1; version <= replacements; version += 1) {
    plan.log(`  replacement ${version} of ${replacements}`)
    replaced.push(
      await sampleOf(() =>
        measureReplacement(gateway, () => load(seconds), recordsFile({ ...content, version })),
      ),
    )
  }
  if (!isQuick) await wait(SETTLE_MS)
  const still = (values: Values): readonly Sample[] => [{ values, foreign: quiet.foreign }]
  return [
    { case: 'start', server, samples: still({ startSeconds, resident: before }) },
    { case: 'without a replacement', server, samples: [quiet] },
    { case: 'during a replacement', server, samples: replaced },
    { case: 'after the replacements', server, samples: still({ resident: gateway.residentBytes() }) },
  ]
}

async function measureReplacement(
  gateway: Gateway,
  load: () => Promise<Values>,
  text: string,
): Promise<Values> {
  let resident = 0
  const timer = setInterval(() => (resident = Math.max(resident, gateway.residentBytes())), SAMPLE_MS)
  const delayed = wait(REPLACE_AFTER_MS).then(() => replace(gateway, text))
  const [values, readMs] = await Promise.all([load(), delayed])
  clearInterval(timer)
  return { ...values, readMs, resident }
}

/** Replaces the file. Returns the milliseconds until the gateway logs that it has read the file. */
async function replace({ directory }: Gateway, text: string): Promise<number> {
  const log = join(directory, 'gateway.log')
  const reloads = () => readFileSync(log, 'latin1').split('"file reloaded"').length
  const before = reloads()
  const file = join(directory, 'authorizations.yaml')
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
  const startedAt = performance.now()
  while (reloads() === before) {
    if (performance.now() - startedAt > MAX_READ_MS) throw new Error('the gateway did not read the file')
    await wait(100)
  }
  return performance.now() - startedAt
}

if (import.meta.main) await runAlone(reload)
