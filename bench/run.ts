import { inspect, parseArgs } from 'node:util'
import { ArgumentError, runCommand } from './arguments.ts'
import { writePages } from './report/pages.ts'
import { machineOf, type PartResult, readResults, resultOf, type Results } from './report/results.ts'
import { rowsText } from './report/table.ts'
import type { Part, Row } from './part.ts'
import { PARTS } from './parts.ts'
import { COMMON_OPTIONS, planOf, runPart, stopWhenInterrupted } from './run-part.ts'
import { buildGateway } from './servers/gateway.ts'

// Runs the parts of the benchmark one after the other, and prints a table for each. With `--write`, also writes docs/benchmark.md and
// docs/capacity.md.

const OPTIONS = {
  ...COMMON_OPTIONS,
  only: { type: 'string' },
  write: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
} as const

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS })
  const isUsual = (part: Part) => part.isExtra !== true && !(values.quick && part.isLeftOutOfQuick === true)
  const chosen = values.only?.split(',').map(partOf) ?? PARTS.filter(isUsual)
  if (values.list) {
    for (const { name, title } of PARTS) process.stdout.write(`${name.padEnd(14)} ${title}\n`)
    return
  }
  const plan = planOf(values)
  stopWhenInterrupted()
  plan.log('builds the gateway')
  buildGateway()
  const results = new Map<string, PartResult>()
  const startedAt = performance.now()
  for (const [index, part] of chosen.entries()) {
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    plan.log(`[${index + 1}/${chosen.length}, ${seconds} s] ${part.name}: ${part.title}`)
    const rows = await tryPart(part, plan)
    if (rows === null) continue
    process.stdout.write(`\n## ${part.title}\n\n${rowsText(part, rows)}\n\n`)
    results.set(part.name, resultOf(rows, values.quick))
    // Written after each part, so that an interrupted run loses no result.
    if (values.write) writePages(merged(results))
  }
  plan.log(`${Math.round((performance.now() - startedAt) / 1000)} s`)
}

/** Returns null if the part cannot be measured. The other parts are measured nevertheless. */
async function tryPart(part: Part, plan: ReturnType<typeof planOf>): Promise<readonly Row[] | null> {
  try {
    return await runPart(part, plan)
  } catch (error) {
    process.exitCode = 1
    plan.log(`  failed: ${inspect(error)}`)
    return null
  }
}

/** @throws ArgumentError if there is no such part */
function partOf(name: string): Part {
  const part = PARTS.find((one) => one.name === name)
  if (part === undefined) throw new ArgumentError(`there is no part ${name}; --list shows all of them`)
  return part
}

/** Returns the former results with those of this run. */
function merged(results: ReadonlyMap<string, PartResult>): Results {
  return { machine: machineOf(), parts: { ...readResults()?.parts, ...Object.fromEntries(results) } }
}

await runCommand('bench/run.ts', OPTIONS, main)
