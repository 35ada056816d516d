import type { Command } from 'commander'
import { changesBetween, restartProblems } from '../config/config-changes.ts'
import { loadConfig } from '../config/config.ts'
import { isMapping } from '../config/mapping.ts'
import { redactedOf, secretDigestsOf } from '../config/redacted.ts'
import { ADMIN_ROUTES } from '../server/admin-routes.ts'
import { isObject, stringIn } from '../request/value.ts'
import { counted } from '../pipeline/plural.ts'
import { ADMIN_OPTION, type AdminAddress, adminAddressOf, askAdmin, TOKEN_FILE_OPTION } from './ask-admin.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, CONFIG_OPTION, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse } from './output.ts'

export function addDiffCommand(program: Command, context: CommandContext): void {
  program
    .command('diff')
    .description('show how the running configuration differs from a file')
    .addOption(CONFIG_OPTION)
    .addOption(ADMIN_OPTION)
    .addOption(TOKEN_FILE_OPTION)
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async ({ config: file, format, ...given }) => {
        const config = loadConfig(file)
        const address = adminAddressOf(given, config)
        const running = runningOf(await askAdmin(address, ADMIN_ROUTES.configuration))
        const differences = await differencesBetween(running, config, address)
        if (running.secrets === null)
          context.stderr.write('secrets were not compared: the running gateway has no admin.token\n')
        printResponse(context, format, {
          text: () => formatDifferences(differences, file),
          json: () => ({
            file,
            admin: address.origin,
            secretsCompared: running.secrets !== null,
            differences,
          }),
        })
        return differences.length === 0 ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `The command reads the running configuration from the admin listener of a gateway. It reads the file in the
same way as the gateway, but with the environment and the files of this command. Durations are in
milliseconds, sizes in bytes, and file names are absolute. Secrets are never printed. If admin.token is set,
the command shows that a secret differs.`,
  examples: [
    'engine-gateway diff --config gateway.yaml',
    'engine-gateway diff --config new.yaml --admin http://gateway:9090 --token-file token',
  ],
  exitCodes: [
    [0, 'there are no differences'],
    [1, 'there are differences'],
    [2, 'no result: invalid arguments, an invalid file, or a gateway that does not respond'],
  ],
} as const

interface ReceivedConfig {
  readonly config: unknown
  readonly secrets: { readonly salt: string; readonly digests: Readonly<Record<string, unknown>> } | null
}

/** Checks the response of `GET /config`. @throws CommandError */
function runningOf(response: unknown): ReceivedConfig {
  if (!isObject(response) || !isObject(response['config']))
    throw new CommandError('The response is not a configuration')
  const { config, secrets } = response
  const salt = stringIn(secrets, 'salt')
  if (!isObject(secrets) || salt === null || !isObject(secrets['digests'])) return { config, secrets: null }
  return { config, secrets: { salt, digests: secrets['digests'] } }
}

interface Difference {
  readonly path: string
  /** Null if the key does not exist. Secrets are redacted. */
  readonly running: unknown
  readonly file: unknown
  readonly isSecret: boolean
  readonly applies: 'reload' | 'restart'
}

async function differencesBetween(
  { config: before, secrets }: ReceivedConfig,
  config: unknown,
  { token }: AdminAddress,
): Promise<readonly Difference[]> {
  const after: unknown = JSON.parse(JSON.stringify(redactedOf(config)))
  const shown = changesBetween(before, after)
  const digests =
    secrets === null || token === null
      ? null
      : await secretDigestsOf(config, { key: token, salt: secrets.salt })
  const hidden = Object.entries(digests ?? {})
    .filter(([path, digest]) => digest !== secrets?.digests[path])
    .map(([path]) => path)
    // A secret is not listed if its key or a section around it is already listed.
    .filter(
      (path) =>
        !shown.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`)),
    )
  return [
    ...shown.map((path) => differenceAt(path, { before, after, isSecret: false })),
    ...hidden.map((path) => differenceAt(path, { before, after, isSecret: true })),
  ].sort((one, other) => (one.path < other.path ? -1 : 1))
}

interface SettingDifference {
  readonly before: unknown
  readonly after: unknown
  readonly isSecret: boolean
}

function differenceAt(path: string, { before, after, isSecret }: SettingDifference): Difference {
  const applies = restartProblems([path]).length > 0 ? 'restart' : 'reload'
  return { path, running: valueAt(before, path), file: valueAt(after, path), isSecret, applies }
}

/** Returns the value at a path, or null if there is no value. */
function valueAt(value: unknown, path: string): unknown {
  let at: unknown = value
  for (const key of path.split('.')) at = isMapping(at) ? at[key] : undefined
  return at ?? null
}

function formatDifferences(differences: readonly Difference[], file: string): string {
  if (differences.length === 0) return linesText([`${file} is the running configuration`])
  const lines = differences.map(({ path, running, file: wanted, isSecret, applies }) => {
    const change = isSecret ? '(secret, differs)' : `${valueText(running)} → ${valueText(wanted)}`
    return `${path}: ${change}${applies === 'restart' ? '  (needs a restart)' : ''}`
  })
  const restarts = differences.filter(({ applies }) => applies === 'restart').length
  const sum = `${counted(differences.length, 'difference')}: ${restarts === 0 ? 'a reload applies all' : `a reload refuses the file, because ${restarts} of them ${restarts === 1 ? 'needs' : 'need'} a restart`}`
  return linesText([...lines, sum])
}

function valueText(value: unknown): string {
  if (value === null) return '(none)'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
