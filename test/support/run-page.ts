import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { tether } from '../engine/child.ts'
import { until } from './cache-harness.ts'
import { type PageStep, patternOf, stepsOf } from './page-steps.ts'
import { promtoolSkip, redisSkip } from './requirements.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Files of a checkout that the pages use. */
const CHECKOUT = ['package.json', 'node_modules', 'src', 'sandbox', 'config', 'examples', 'helm']
/** Timeout of a step. Each command line starts its own process, and the machine may be busy. */
const STEP_MS = 300_000
/** Programs without which a page can still be run. The steps that need them are skipped. */
const OPTIONAL: Readonly<Record<string, string | false>> = {
  'redis-server': redisSkip,
  promtool: promtoolSkip,
}
/** Blocks that are never run: a test neither installs anything nor runs an image. */
const NEVER = ['setup', 'docker']

interface Setting {
  /** Path relative to the project, for example `docs/getting-started.md`. */
  readonly page: string
  /** Words of blocks that are left out, for example of an alternative. */
  readonly without: readonly string[]
  /** Texts of the page, in commands and outputs, with their replacements in the test. Used for ports. */
  readonly replaced: Readonly<Record<string, string>>
  /** What the test does before a block with one of these words. The page tells the reader to do it by other means. */
  readonly before?: Readonly<Record<string, () => Promise<void>>>
}

/**
 * Runs the commands of a page in order, in a folder like a checkout, and compares their output with the page. A
 * `background` block runs until the end. An `eventually` block is repeated until its output matches.
 */
export async function runPage(t: Test, { page, without, replaced, before = {} }: Setting): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-page-'))
  for (const name of CHECKOUT) symlinkSync(join(ROOT, name), join(folder, name))
  const shell = openShell(folder)
  const background: Printing[] = []
  t.teardown(async () => {
    for (const one of [shell, ...background]) await end(one.child)
    rmSync(folder, { recursive: true })
  })
  const text = Object.entries(replaced).reduce(
    (all, [from, to]) => all.replaceAll(from, to),
    readFileSync(join(ROOT, page), 'utf8'),
  )
  const steps = stepsOf(text).filter(
    ({ words }) => !words.some((word) => [...NEVER, ...without].includes(word)),
  )
  for (const step of steps) {
    const skip = step.words.map((word) => OPTIONAL[word]).find((reason) => typeof reason === 'string')
    await t.test(step.name, { skip: skip ?? false }, async (t) => {
      for (const word of step.words) await before[word]?.()
      if (!step.words.includes('background')) return runStep(t, shell, step)
      const started = openProcess('sh', ['-c', step.commands], folder)
      background.push(started)
      const pattern = new RegExp(`^${patternOf(step.output ?? '')}`)
      await untilPrinted(started, 0, pattern)
      return compare(t, { printed: started.printed(), pattern, output: step.output })
    })
  }
}

async function runStep(t: Test, shell: Shell, { commands, output, words }: PageStep): Promise<void> {
  const pattern = new RegExp(`^${patternOf(output ?? '')}$`)
  let printed = await shell.run(commands)
  if (words.includes('eventually'))
    await until(async () => {
      if (!pattern.test(printed)) printed = await shell.run(commands)
      return pattern.test(printed)
    }, STEP_MS)
  compare(t, { printed, pattern, output })
}

interface Compared extends Pick<PageStep, 'output'> {
  readonly printed: string
  readonly pattern: RegExp
}

/** Shows a difference against the page's own text, not against a pattern. */
function compare(t: Test, { printed, pattern, output }: Compared): void {
  if (pattern.test(printed)) t.pass('it prints what the page says')
  else t.equal(printed, output ?? '')
}

interface Printing {
  readonly child: ChildProcess
  /** Returns the output of the process on stdout and stderr. */
  readonly printed: () => string
}

interface Shell extends Printing {
  /** Returns the output of the commands. Variables that they set stay set for the next commands. */
  readonly run: (commands: string) => Promise<string>
}

function openShell(folder: string): Shell {
  const shell = openProcess('sh', [], folder)
  shell.child.stdin?.write('exec 2>&1\n')
  let count = 0
  return {
    ...shell,
    run: async (commands) => {
      count += 1
      const mark = `-- end of step ${count} --\n`
      const from = shell.printed().length
      shell.child.stdin?.write(`{\n${commands}} < /dev/null\necho '${mark.trim()}'\n`)
      await untilPrinted(shell, from, new RegExp(`${mark}$`))
      return shell.printed().slice(from, -mark.length)
    },
  }
}

/** Starts a process group of its own, so that all its processes can be ended, even if the test is killed. */
function openProcess(command: string, args: readonly string[], cwd: string): Printing {
  const child = spawn('env', ['-u', 'NODE_OPTIONS', command, ...args], { cwd, detached: true, stdio: 'pipe' })
  if (child.pid !== undefined) child.once('exit', tether(-child.pid))
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString().replaceAll('\r', '')))
  return { child, printed: () => printed }
}

async function untilPrinted({ child, printed }: Printing, from: number, pattern: RegExp): Promise<void> {
  await until(() => pattern.test(printed().slice(from)) || child.exitCode !== null, STEP_MS)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  await ended
}
