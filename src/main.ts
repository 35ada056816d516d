#!/usr/bin/env node
import cluster from 'node:cluster'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { build } from './build.ts'
import { demo } from './cli/demo.ts'
import { explainCommand } from './cli/explain.ts'
import { hashPasswordCommand } from './cli/hash-password.ts'
import { suggestCommand } from './cli/suggest.ts'
import { ConfigError, configJsonSchema, loadConfig } from './config.ts'
import { createLogger } from './log.ts'
import { stopPretenuring } from './pretenuring.ts'
import { type Running, start } from './start.ts'
import { keepTicksQuick } from './ticks.ts'
import { versionOf } from './version.ts'
import { startWorkers } from './workers/start-workers.ts'
import { startWorker } from './workers/worker.ts'

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
    case 'worker':
      return runWorker()
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
  if (command === 'start') {
    const { workers } = config
    const entry = import.meta.filename
    return runUntilSignal(
      await (workers === 1 ? start(config, log, file) : startWorkers({ config, log, file, entry })),
    )
  }
  const { close } = await build({ config, log, version: versionOf(), isDraining: () => false })
  await close()
  return say(`${file} is good\n`)
}

async function runUntilSignal({ drain, reload }: Pick<Running, 'drain' | 'reload'>): Promise<number> {
  process.on('SIGHUP', () => void reload())
  await signalled()
  await drain()
  return 0
}

/** What the primary starts; for nobody else. */
async function runWorker(): Promise<number> {
  const { worker } = cluster
  if (worker === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const { told, drain } = await startWorker(worker)
  // A signal to the whole group comes here too: to read the configuration anew is the primary's.
  process.on('SIGHUP', () => undefined)
  await Promise.race([told, signalled()])
  await drain()
  return 0
}

function signalled(): Promise<void> {
  return new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve)
  })
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

if (import.meta.main) {
  keepTicksQuick()
  stopPretenuring()
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
