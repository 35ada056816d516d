import { type Command, InvalidArgumentError, Option } from 'commander'
import type { BuildRuntimeDependencies } from '../assembly/runtime.ts'
import {
  type Config,
  configOf,
  enginePasswordFromEnvironment,
  loadConfig,
  tellsCaller,
} from '../config/config.ts'
import type { AskEngine } from '../request/engine-request.ts'
import { checkReadable, type EngineReading, withDeadline } from '../transfer/read-list.ts'
import { CommandError } from './command-failure.ts'
import { ENGINE_OPTION } from './command.ts'
import { readText } from './read-text.ts'
import { withRuntime } from './with-runtime.ts'

/** The options that select an engine. */
export type EngineFlags = {
  readonly config?: string | undefined
  readonly engine: string
  readonly url?: string | undefined
  readonly user?: string | undefined
  readonly passwordFile?: string | undefined
  readonly timeout: number
  readonly pageSize: number
}

/** Adds the options that select an engine to a command. */
export function addEngineOptions(command: Command) {
  return command
    .option(
      '-c, --config <FILE>',
      'the configuration file that contains the engine, its account and its TLS files',
    )
    .addOption(ENGINE_OPTION)
    .option('--url <URL>', 'the URL of the REST API, instead of --config: http://engine:8080/engine-rest')
    .option('-u, --user <NAME>', 'with --url: the account. Default: no credentials')
    .option(
      '--password-file <FILE>',
      'with --user: a file with the password; default: ENGINE_GATEWAY_ENGINE_PASSWORD',
    )
    .addOption(
      new Option('--timeout <SECONDS>', 'maximum time of the command')
        .default(600, '600')
        .argParser((text) => wholeNumberOf(text, 1, 86_400)),
    )
    .addOption(
      new Option('--page-size <COUNT>', 'number of items in one response of the engine')
        .default(1000, '1000')
        .argParser((text) => wholeNumberOf(text, 2, 10_000)),
    )
}

/** Parses an option that takes a whole number. @throws InvalidArgumentError */
export function wholeNumberOf(text: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d{1,6}$/.test(text) || value < min || value > max)
    throw new InvalidArgumentError(`It takes a number from ${min} to ${max}.`)
  return value
}

/** The connection to one engine. Requests fail after the timeout of the command. */
export interface EngineConnection {
  readonly ask: AskEngine
  readonly reading: EngineReading
}

interface TransferDependencies {
  readonly build: BuildRuntimeDependencies
  readonly stderr: { readonly write: (text: string) => unknown }
}

/**
 * Calls `use` with a connection to the engine that the options select. Its account may read everything. Progress and logs go to
 * standard error.
 * @throws CommandError, ConfigError, GatewayError, TransferError
 */
export async function withEngine<T>(
  flags: EngineFlags,
  { build, stderr }: TransferDependencies,
  use: (connection: EngineConnection) => Promise<T>,
): Promise<T> {
  const config = flags.url === undefined ? configuredEngine(flags) : engineAt(flags.url, flags)
  return withRuntime({ build, config }, async ({ questions }) => {
    const askEngine = questions.askerOf(Object.keys(config.engines)[0] ?? '')
    if (askEngine === null) throw new CommandError('the engine does not exist')
    const ask = withDeadline(askEngine, flags.timeout * 1000)
    await checkReadable(ask)
    const onProgress = createProgress((text) => void stderr.write(text))
    return use({ ask, reading: { ask, pageSize: flags.pageSize, onProgress } })
  })
}

/** The time between two lines of progress. */
const PROGRESS_MS = 1000

/** Returns a function that writes a line of progress at most once a second. */
export function createProgress(write: (text: string) => void): EngineReading['onProgress'] {
  let writtenAt = performance.now()
  return (what, count) => {
    if (performance.now() - writtenAt < PROGRESS_MS) return
    writtenAt = performance.now()
    write(`${count} ${what} read\n`)
  }
}

/** Returns a configuration with one engine, which uses no file, no Redis and no other engine. */
function configWith(name: string, engine: unknown): Config {
  return configOf('The engine', {
    version: 1,
    engines: { [name]: engine },
    identity: { source: 'engine' },
    authorization: { mode: 'off', records: { source: 'engine' } },
    log: { audit: 'off' },
  })
}

function configuredEngine({ config: file, engine: name, user, passwordFile }: EngineFlags): Config {
  if (file === undefined) throw new CommandError('--config or --url is required')
  if (user !== undefined || passwordFile !== undefined)
    throw new CommandError(
      '--user and --password-file need --url: with --config, the account is in the configuration',
    )
  const { engines, timeouts } = loadConfig(file)
  const engine = engines[name]
  if (engine === undefined)
    throw new CommandError(`${file} has no engine with this name. It has: ${Object.keys(engines).join(', ')}`)
  if (tellsCaller(engine) && engine.service === undefined)
    throw new CommandError(
      `engines.${name}.service is not set: the command needs an account that may read everything`,
    )
  const { identity: _identity, authorization: _authorization, ...own } = engine
  const config = configWith(name, { nodes: ['http://engine'] })
  return { ...config, timeouts, engines: { [name]: own } }
}

function engineAt(url: string, { config, user, passwordFile }: EngineFlags): Config {
  if (config !== undefined) throw new CommandError('--config and --url exclude each other')
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '')
    throw new CommandError('--url takes a URL like http://engine:8080/engine-rest')
  if (parsed.username !== '' || parsed.password !== '')
    throw new CommandError('--url must not contain credentials: use --user and --password-file')
  const credentials = user === undefined ? 'none' : { username: user, password: passwordOf(passwordFile) }
  return configWith('default', { nodes: [url], credentials })
}

function passwordOf(file: string | undefined): string {
  const password = file === undefined ? enginePasswordFromEnvironment() : readText(file).replace(/\r?\n$/, '')
  if (password === null || password === '')
    throw new CommandError('--user needs a password: use --password-file or ENGINE_GATEWAY_ENGINE_PASSWORD')
  return password
}
