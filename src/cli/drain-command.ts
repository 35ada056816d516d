import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { loadConfig } from '../config/config.ts'
import { counted } from '../pipeline/plural.ts'
import { isObject } from '../request/value.ts'
import { ADMIN_ROUTES } from '../server/admin-routes.ts'
import { ADMINS_OPTION, type AdminAddress, askAdmin, TOKEN_FILE_OPTION } from './ask-admin.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, CONFIG_OPTION, FORMAT_OPTION, notesText } from './command.ts'
import { askEachGateway, printAnswers } from './each-gateway.ts'

export function addDrainCommand(program: Command, context: CommandContext): void {
  program
    .command('drain')
    .description('take a node of an engine out of use, or return it')
    .argument('<NODE>', 'the URL of the node, as in the configuration')
    .addOption(CONFIG_OPTION)
    .option('-e, --engine <NAME>', 'only at this engine; default: at all engines that have the node')
    .option('--back', 'use the node again', false)
    .option('--force', 'drain the node even if its engine has no other healthy node', false)
    .option(
      '--wait <SECONDS>',
      'wait until no request runs at the node and it holds no long poll',
      secondsOf,
      0,
    )
    .addOption(ADMINS_OPTION)
    .addOption(TOKEN_FILE_OPTION)
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(
        async (node, { config: file, engine, back, force, wait: seconds, format, ...given }) => {
          const answers = await askEachGateway(given, loadConfig(file), (address) =>
            drainNode(address, { node, engine, back, force }, back ? 0 : seconds),
          )
          return printAnswers(context, answers, { format, lines: (result) => [textOf(result)] }, (result) =>
            seconds > 0 && !back && !isIdle(result) ? 1 : 0,
          )
        },
      ),
    )
}

const NOTES = {
  about: `The command sends POST /nodes/drain to the admin listener of a gateway. In all workers of this gateway, the
node then gets no new requests. Requests that run there continue, and long polls are sent to other nodes.
The drain lasts until --back or until the gateway is restarted; a reload of the configuration keeps it. It
concerns the replicas that --admin names. For a drain of all replicas that also survives a restart, set drain
in the configuration.`,
  examples: [
    'engine-gateway drain http://engine-1:8080/engine-rest --wait 60 --config gateway.yaml',
    'engine-gateway drain http://engine-1:8080/engine-rest --back --config gateway.yaml',
    'engine-gateway drain http://engine-1:8080/engine-rest -c gateway.yaml --admin http://10.1.2.3:9090',
  ],
  exitCodes: [
    [0, 'the node is drained, or used again'],
    [1, 'the node is drained, and requests still run there after --wait'],
    [2, 'invalid arguments, a drain that was refused, or a gateway that does not respond'],
  ],
} as const

const MAX_WAIT_SECONDS = 3600
/** The time between two requests to the gateway while the command waits. */
const PAUSE_MS = 1000

/** Parses the option `--wait`. @throws InvalidArgumentError */
function secondsOf(text: string): number {
  const seconds = Number(text)
  if (text === '' || !(seconds >= 0 && seconds <= MAX_WAIT_SECONDS))
    throw new InvalidArgumentError(`It takes seconds up to ${MAX_WAIT_SECONDS}.`)
  return seconds
}

interface DrainResult {
  readonly node: string
  readonly engines: readonly string[]
  readonly drained: boolean
  /** The number of requests that run at the node, with the long polls that it holds. */
  readonly running: number
  /** The number of processes that responded, of all that are configured. */
  readonly processes: number
  readonly of: number
}

/** Drains or returns the node, and repeats the request until the node is idle or the time is over. */
async function drainNode(address: AdminAddress, request: object, seconds: number): Promise<DrainResult> {
  const endsAtMs = performance.now() + seconds * 1000
  for (;;) {
    const result = resultOf(await askAdmin(address, ADMIN_ROUTES.drain, request))
    if (isIdle(result) || performance.now() + PAUSE_MS > endsAtMs) return result
    await wait(PAUSE_MS)
  }
}

function isIdle({ running, processes, of }: DrainResult): boolean {
  return running === 0 && processes === of
}

/** Checks the response of `POST /nodes/drain`. @throws CommandError */
function resultOf(response: unknown): DrainResult {
  if (isObject(response)) {
    const { node, engines, drained, running, processes, of } = response
    if (
      typeof node === 'string' &&
      Array.isArray(engines) &&
      typeof drained === 'boolean' &&
      typeof running === 'number' &&
      typeof processes === 'number' &&
      typeof of === 'number'
    )
      return { node, engines: engines.map(String), drained, running, processes, of }
  }
  throw new CommandError('The response is not the result of a drain')
}

function textOf({ node, engines, drained, running, processes, of }: DrainResult): string {
  const where = `${engines.length === 1 ? 'engine' : 'engines'} ${engines.join(', ')}`
  const answered = processes === of ? '' : `; only ${processes} of ${of} processes responded`
  return drained
    ? `${node} is drained (${where}): ${counted(running, 'request')} running${answered}`
    : `${node} is used again (${where})${answered}`
}
