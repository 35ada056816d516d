import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Row } from '../part.ts'

/** The results from which the pages are generated. */
export const RESULTS_FILE = fileURLToPath(new URL('../../docs/benchmark/results.json', import.meta.url))

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGES = ['fastify', 'undici', '@fastify/http-proxy']
const DIGITS = 5

export interface PartResult {
  /** The day of the measurement. */
  readonly date: string
  readonly commit: string
  /** Whether it is a result of `--quick`. */
  readonly isQuick: boolean
  readonly rows: readonly Row[]
}

export interface Results {
  /** The machine and the versions of all programs, as text. */
  readonly machine: readonly string[]
  readonly parts: Readonly<Record<string, PartResult>>
}

/** Returns the result of a part that was measured now. Values are rounded, because the pages show three digits. */
export function resultOf(rows: readonly Row[], isQuick: boolean): PartResult {
  const rounded = rows.map((row) => ({
    ...row,
    samples: row.samples.map(({ values, foreign }) => ({
      values: Object.fromEntries(
        Object.entries(values)
          .filter(([, value]) => Number.isFinite(value))
          .map(([key, value]) => [key, Number(value.toPrecision(DIGITS))]),
      ),
      foreign: Number(foreign.toFixed(3)),
    })),
  }))
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
  return { date: new Date().toISOString().slice(0, 10), commit, isQuick, rows: rounded }
}

/** Returns null if nothing has been measured yet. */
export function readResults(): Results | null {
  return existsSync(RESULTS_FILE) ? JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) : null
}

/** Describes the machine and the measured versions. */
export function machineOf(): readonly string[] {
  const [cpu] = cpus()
  const versions = PACKAGES.map((name) => `${name} ${packageVersion(name)}`)
  const { stderr } = spawnSync('nginx', ['-v'], { encoding: 'utf8' })
  const nginx = /nginx\/([\d.]+)/.exec(stderr ?? '')?.[1]
  return [
    `${cpus().length} cores of ${cpu?.model ?? 'an unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB of memory, Linux ${release()}`,
    `Node.js ${process.versions.node}`,
    ...versions,
    ...(nginx === undefined ? [] : [`nginx ${nginx}`]),
  ]
}

function packageVersion(name: string): string {
  const file = join(ROOT, 'node_modules', name, 'package.json')
  const { version }: { readonly version: string } = JSON.parse(readFileSync(file, 'utf8'))
  return version
}
