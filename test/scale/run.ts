import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareRows } from './compare.ts'
import { callersIn, startScaleEngines } from './engines.ts'
import { growthOf, pairLineOf, reportOf, type ScaleResult } from './report.ts'

const USAGE = `Usage: npm run test:scale -- [options]
  --instances N      process instances; default 100000
  --heap SIZE        of the engine that has the database; default 4g
  --database FOLDER  where the data stays for another run, which takes what is there; default: it is removed
  --only PATTERN     lists and counts whose path it finds; default: all
  --callers PATTERN  callers whose name it finds; default: all
  --first-pages      only the first page of each list; default: also a middle page and the last one
  --result FILE      where the result is written
  --against FILE     the result of a run with fewer instances: how times have grown since
`
const OPTIONS = {
  instances: { type: 'string', default: '100000' },
  heap: { type: 'string', default: '4g' },
  database: { type: 'string' },
  only: { type: 'string', default: '' },
  callers: { type: 'string', default: '' },
  'first-pages': { type: 'boolean', default: false },
  result: { type: 'string' },
  against: { type: 'string' },
} as const

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const instances = Number(values.instances)
  if (!Number.isSafeInteger(instances) || instances < 1) throw new Error(USAGE)
  const before: ScaleResult | null =
    values.against === undefined ? null : JSON.parse(await readFile(values.against, 'utf8'))
  const folder = values.database ?? (await mkdtemp(join(tmpdir(), 'engine-gateway-scale-')))
  const engines = await startScaleEngines(folder, values.heap)
  try {
    const known = await timed('data', () => callersIn(folder, engines, instances))
    const callers = known.filter(({ user }) => new RegExp(values.callers).test(user))
    const compared = await timed('comparison', () =>
      compareRows(engines, {
        callers,
        only: new RegExp(values.only),
        isFirstOnly: values['first-pages'],
        onPair: (pair) => tell(pairLineOf(pair)),
      }),
    )
    const result = { ...compared, instances }
    if (values.result !== undefined) await writeFile(values.result, JSON.stringify(result))
    const reports = [reportOf(result), ...(before === null ? [] : [growthOf(before, result)])]
    for (const { lines } of reports) process.stdout.write(`${lines.join('\n')}\n`)
    return reports.every(({ isGood }) => isGood) ? 0 : 1
  } finally {
    await engines.stop()
    if (values.database === undefined) await rm(folder, { recursive: true })
  }
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const done = await work()
  tell(`${what}: ${Math.round((performance.now() - began) / 1000)} s`)
  return done
}

/** Prints the progress to standard error, because standard output contains only the report. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`)
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error)
    process.exit(2)
  },
)
