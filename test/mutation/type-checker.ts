import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { CheckStatus, type Checker, type CheckResult } from '@stryker-mutator/api/check'
import type { Location, Mutant } from '@stryker-mutator/api/core'
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin'

const ROOT = process.cwd()
const CONFIG = ['tsconfig.json', 'tsconfig.build.json', 'package.json']
const TSC = join(ROOT, 'node_modules/.bin/tsc')
const BUILD_INFO = 'tsc.tsbuildinfo'
/** A fault may cause unused names or unreachable code. These errors are ignored, because they do not detect the fault. */
const LENIENT = [
  '--noUnusedLocals',
  'false',
  '--noUnusedParameters',
  'false',
  '--allowUnreachableCode',
  'true',
]

/** Creates a checker that reports whether `tsc` rejects a mutant. A rejected mutant is not tested and does not count in the score. */
function createTypeChecker(): Checker {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-types-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

  const firstError = () =>
    new Promise<string | undefined>((resolve) => {
      const options = [
        '-p',
        'tsconfig.build.json',
        '--noEmit',
        '--incremental',
        '--tsBuildInfoFile',
        BUILD_INFO,
        ...LENIENT,
      ]
      execFile(TSC, options, { cwd: folder }, (failure, out) =>
        resolve(failure === null ? undefined : (out.split('\n')[0] ?? failure.message)),
      )
    })

  async function check(mutant: Mutant): Promise<CheckResult> {
    const file = join(folder, relative(ROOT, mutant.fileName))
    const original = readFileSync(file, 'utf8')
    writeFileSync(file, replaced(original, mutant.location, mutant.replacement))
    const reason = await firstError()
    writeFileSync(file, original)
    return reason === undefined
      ? { status: CheckStatus.Passed }
      : { status: CheckStatus.CompileError, reason }
  }

  return {
    async init() {
      for (const name of ['src', ...CONFIG]) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
      const reason = await firstError()
      if (reason !== undefined) throw new Error(`the source has a type error before any mutation: ${reason}`)
    },
    async check(mutants) {
      const results: Record<string, CheckResult> = {}
      for (const mutant of mutants) results[mutant.id] = await check(mutant)
      return results
    },
  }
}

/** Returns the text with a replacement at a location. @param location a location of Stryker: lines and columns begin at 0 */
function replaced(text: string, { start, end }: Location, replacement: string): string {
  const lines = text.split('\n')
  const offsetOf = ({ line, column }: Location['start']) =>
    lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, column)
  return text.slice(0, offsetOf(start)) + replacement + text.slice(offsetOf(end))
}

export const strykerPlugins = [declareFactoryPlugin(PluginKind.Checker, 'tsc', createTypeChecker)]
