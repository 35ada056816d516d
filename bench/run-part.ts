import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { numberOf, runCommand } from './arguments.ts'
import { OWN, type Part, type Plan, type Row } from './part.ts'
import { rowsText } from './report/table.ts'
import { buildGateway } from './servers/gateway.ts'
import { has, stopAll } from './servers/processes.ts'

/** The options that each part has. */
export const COMMON_OPTIONS = {
  quick: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  before: { type: 'string' },
} as const

export interface PlanOptions {
  readonly quick: boolean
  readonly rounds?: string | undefined
  readonly seconds?: string | undefined
  /** Another checkout of the gateway. */
  readonly before?: string | undefined
}

/** Returns the plan without the values that belong to one part. */
export function planOf({ quick, rounds, seconds, before }: PlanOptions): Omit<Plan, 'directory' | 'options'> {
  const own = { name: OWN, path: fileURLToPath(new URL('..', import.meta.url)) }
  return {
    isQuick: quick,
    rounds: numberOf('rounds', rounds ?? (quick ? '1' : '5')),
    seconds: numberOf('seconds', seconds ?? '1'),
    warmUpSeconds: quick ? 1 : 3,
    gateways: before === undefined ? [own] : [{ name: 'before', path: resolve(before) }, own],
    log: (line) => void process.stderr.write(`${line}\n`),
  }
}

/** Runs a part in a folder of its own. Returns null if a program is missing. */
export async function runPart(
  part: Part,
  plan: Omit<Plan, 'directory' | 'options'>,
  options: Readonly<Record<string, string>> = {},
): Promise<readonly Row[] | null> {
  const missing = (part.needs ?? []).filter((program) => !has(program))
  if (missing.length > 0) {
    plan.log(`${part.name}: not measured, because ${missing.join(' and ')} is not installed`)
    return null
  }
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  chmodSync(directory, 0o755) // if nginx's master runs as root, its worker runs as another user
  try {
    return await part.run({ ...plan, directory, options: { ...part.options, ...options } })
  } finally {
    await stopAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Stops the servers when the process is interrupted. A closed terminal does not interrupt a run under nohup. */
export function stopWhenInterrupted(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void stopAll().finally(() => process.exit(1))
    })
}

/** Runs one part from the command line, and prints its rows. */
export async function runAlone(part: Part): Promise<void> {
  const own = Object.keys(part.options ?? {})
  const further = Object.fromEntries(
    own.map((name): [string, { type: 'string' }] => [name, { type: 'string' }]),
  )
  await runCommand(`bench/parts/${part.name}.ts`, { ...further, ...COMMON_OPTIONS }, async () => {
    const { values: common } = parseArgs({ options: COMMON_OPTIONS, strict: false })
    const { values } = parseArgs({ options: { ...further, ...COMMON_OPTIONS } })
    const given = Object.entries<unknown>(values).flatMap(([name, value]) =>
      typeof value === 'string' && own.includes(name) ? [[name, value] as const] : [],
    )
    const plan = planOf({
      quick: common.quick === true,
      rounds: textOf(common.rounds),
      seconds: textOf(common.seconds),
      before: textOf(common.before),
    })
    stopWhenInterrupted()
    buildGateway()
    const rows = await runPart(part, plan, Object.fromEntries(given))
    if (rows !== null) process.stdout.write(`${part.title}\n\n${rowsText(part, rows)}\n`)
  })
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
