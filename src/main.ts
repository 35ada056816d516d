#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { build } from './build.ts'
import { demo } from './cli/demo.ts'
import { explainCommand } from './cli/explain.ts'
import { hashPasswordCommand } from './cli/hash-password.ts'
import { suggestCommand } from './cli/suggest.ts'
import { type Config, ConfigError, configJsonSchema, loadConfig } from './config.ts'
import { answerQuestion } from './explain.ts'
import { buildGateway } from './gateway.ts'
import { createLogger, type Logger } from './log.ts'
import { createAdmin, type Readiness } from './metrics/admin.ts'
import { bodyText } from './policy/asked.ts'
import { registerPassthrough } from './proxy/passthrough.ts'
import { authenticatePassthrough } from './matched.ts'

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
  /** Refuses new work, lets what is under way finish, closes. Resolves at the deadline at the latest. */
  readonly drain: () => Promise<void>
}

/** Builds, then listens: what is wrong with the configuration is said before. @throws ConfigError */
export async function start(config: Config, log: Logger): Promise<Running> {
  let draining = false
  const built = await build({ config, log, version: versionOf(), isDraining: () => draining })
  const { parts, close } = built
  const app = buildGateway(parts)
  registerPassthrough(app, {
    prefixes: config.passthrough,
    authenticate: authenticatePassthrough(parts.engines),
    bodyBytes: config.limits.deploymentBody,
    connections: config.limits.connections,
    timeouts: {
      connectMs: config.timeouts.connect,
      headersMs: config.timeouts.headers,
      bodyMs: config.timeouts.body,
    },
  })
  const admin = await createAdmin({
    ...config.admin,
    metrics: parts.metrics,
    log,
    explain: (question) => answerQuestion(parts, question),
    readiness: () => readinessOf(draining, built.readiness()),
  })
  await built.start()
  const address = await app.listen(config.listen)
  log.info({ address, admin: admin.address, engines: [...parts.engines.keys()] }, 'listening')
  return {
    address,
    adminAddress: admin.address,
    drain: async () => {
      draining = true
      // Connections that were busy at the start of the drain and are idle now would keep the server open.
      const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, config.timeouts.drain).unref())
      await Promise.race([app.close(), deadline])
      clearInterval(sweep)
      app.server.closeAllConnections()
      await Promise.race([Promise.all([close(), admin.close()]), deadline])
    },
  }
}

function readinessOf(draining: boolean, { ready, checks }: Readiness): Readiness {
  return {
    ready: ready && !draining,
    checks: { configuration: 'ok', ...checks, drain: draining ? 'shutting down' : 'ok' },
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
  if (command === 'start') return runUntilSignal(await start(config, log))
  const { close } = await build({ config, log, version: versionOf(), isDraining: () => false })
  await close()
  return say(`${file} is good\n`)
}

async function runUntilSignal({ drain }: Running): Promise<number> {
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
