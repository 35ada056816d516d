#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { build, type Built } from './build.ts'
import { demo } from './cli/demo.ts'
import { explainCommand } from './cli/explain.ts'
import { hashPasswordCommand } from './cli/hash-password.ts'
import { suggestCommand } from './cli/suggest.ts'
import { type Config, ConfigError, configJsonSchema, loadConfig } from './config.ts'
import { answerQuestion } from './explain.ts'
import { openGeneration } from './generation.ts'
import { createListener } from './listener.ts'
import { createLogger, type Logger } from './log.ts'
import { type Admin, createAdmin, type Readiness } from './metrics/admin.ts'
import { bodyText } from './policy/asked.ts'
import { openWatchedFile, type WatchedFile } from './policy/watched-file.ts'
import { createReload, type Reload, type Reloaded } from './reload.ts'
import { createSuccession } from './succession.ts'

const USAGE = `Usage: engine-gateway [start] --config FILE   run the gateway
       engine-gateway check --config FILE     say whether a configuration is good, and what is wrong
       engine-gateway demo                    run it before a sandbox engine
       engine-gateway hash-password           read a password from standard input, print its hash
       engine-gateway explain --config FILE --user ID [--engine NAME] "METHOD /path" [--body FILE] [--json]
                                              say whether a user may do something, and which records decide it
       engine-gateway suggest [--file AUDIT] [--engine NAME] [--user ID]... [--group ID]
                                              print the fewest records that would have allowed what was refused
       engine-gateway schema [--write FILE]   print the configuration's JSON schema
`

/** A gateway that listens. */
export interface Running {
  /** `http://127.0.0.1:8080` */
  readonly address: string
  readonly adminAddress: string
  /** Puts in force what the file says now, or nothing of it. */
  readonly reload: () => Promise<Reloaded>
  /** Refuses new work, lets what is under way finish, closes. Resolves at the deadline at the latest. */
  readonly drain: () => Promise<void>
}

/** Builds, then listens: what is wrong with the configuration is said before. `file` is where it is read anew. @throws ConfigError */
export async function start(config: Config, log: Logger, file: string | null = null): Promise<Running> {
  let draining = false
  const isDraining = () => draining
  const shared = { log, version: versionOf(), isDraining }
  // From before the building on: what changes meanwhile is seen.
  const watched = file === null ? null : await watchConfig(file, () => void reload.run('file'))
  const first = await openGeneration({ config, ...shared })
  const { metrics } = first.built.parts
  const listener = createListener(config, { handle: first.handle, metrics })
  const succession = createSuccession({
    first,
    open: (next, before) => openGeneration({ config: next, ...shared, before: before.built }),
    serve: listener.serve,
    isDraining,
    log,
  })
  const current = () => succession.current().built
  const load = () => (file === null ? current().config : loadConfig(file))
  const { replace } = succession
  const reload = createReload({ load, current: () => current().config, replace, metrics, log })
  const admin = await openAdmin({ current, reload, isDraining, log })
  first.built.enter()
  await first.built.start()
  const address = await listener.listen(config.listen)
  watched?.start()
  log.info({ address, admin: admin.address, engines: Object.keys(config.engines) }, 'listening')
  return {
    address,
    adminAddress: admin.address,
    reload: () => reload.run('signal'),
    drain: async () => {
      draining = true
      watched?.close()
      const deadline = wait(current().config.timeouts.drain, undefined, { ref: false })
      succession.endPolls()
      await listener.close(deadline)
      await Promise.race([Promise.all([succession.close(), admin.close()]), deadline])
    },
  }
}

interface AdminParts {
  readonly current: () => Built
  readonly reload: Reload
  readonly isDraining: () => boolean
  readonly log: Logger
}

function openAdmin({ current, reload, isDraining, log }: AdminParts): Promise<Admin> {
  const { config, parts } = current()
  return createAdmin({
    ...config.admin,
    metrics: parts.metrics,
    log,
    explain: (question) => answerQuestion(current().parts, question),
    reload: async () => answerOf(await reload.run('request')),
    readiness: () =>
      readinessOf(current().readiness(), { isDraining: isDraining(), isApplied: reload.isApplied() }),
  })
}

/** Looks at the text alone: what is wrong with it is said by who reads it. */
function watchConfig(path: string, onChange: () => void): Promise<WatchedFile<string>> {
  return openWatchedFile({ path, parse: (text) => text, staleAfterMs: Infinity, onLook: onChange })
}

function answerOf(reloaded: Reloaded) {
  return { status: reloaded.result === 'applied' ? 200 : 422, value: reloaded }
}

/** What is in force serves on, whatever the file says now. */
function readinessOf(
  { ready, checks }: Readiness,
  { isDraining, isApplied }: { readonly isDraining: boolean; readonly isApplied: boolean },
): Readiness {
  return {
    ready: ready && !isDraining,
    checks: {
      configuration: isApplied ? 'ok' : 'the file was refused; what it said before is in force',
      ...checks,
      drain: isDraining ? 'shutting down' : 'ok',
    },
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const [name = '', ...own] = argv
  if (name === 'explain') return explainCommand(own, process)
  if (name === 'suggest') return suggestCommand(own, process)
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      config: { type: 'string', short: 'c' },
      write: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const [command = 'start', ...rest] = positionals
  if (values.help === true) return say(USAGE)
  switch (command) {
    case 'start':
    case 'check':
      return runWith(values.config, command)
    case 'demo':
      return runUntilSignal(await demo(start))
    case 'hash-password':
      return hashPasswordCommand(rest, { stdin: process.stdin, stdout: process.stdout })
    case 'schema':
      return writeSchema(values.write)
    default:
      process.stderr.write(USAGE)
      return 2
  }
}

async function runWith(file: string | undefined, command: 'start' | 'check'): Promise<number> {
  if (file === undefined) {
    process.stderr.write(`A configuration is needed: --config FILE\n\n${USAGE}`)
    return 2
  }
  const config = loadConfig(file)
  const log = createLogger({ level: config.log.level })
  if (command === 'start') return runUntilSignal(await start(config, log, file))
  const { close } = await build({ config, log, version: versionOf(), isDraining: () => false })
  await close()
  return say(`${file} is good\n`)
}

async function runUntilSignal({ drain, reload }: Running): Promise<number> {
  process.on('SIGHUP', () => void reload())
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve)
  })
  await drain()
  return 0
}

function writeSchema(file: string | undefined): number {
  const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`
  if (file === undefined) return say(text)
  writeFileSync(file, text)
  return 0
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}

function versionOf(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return bodyText(manifest, 'version') ?? 'unknown'
}

if (import.meta.main) {
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code
      // What still keeps the process alive after a drain (a client that never reads) is not waited for.
      setTimeout(() => process.exit(code), 500).unref()
    },
    (error: unknown) => {
      const lines =
        error instanceof ConfigError
          ? [error.message, ...error.problems.map((problem) => `  ${problem}`)]
          : [String(error)]
      process.stderr.write(`${lines.join('\n')}\n`)
      process.exit(1)
    },
  )
}
