import { type Command, Option } from 'commander'
import { loadConfig } from '../config/config.ts'
import { CACHE_TAGS } from '../operations/cached-content.ts'
import { counted } from '../pipeline/plural.ts'
import { isObject } from '../request/value.ts'
import { ADMIN_ROUTES } from '../server/admin-routes.ts'
import { ADMINS_OPTION, askAdmin, TOKEN_FILE_OPTION } from './ask-admin.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, CONFIG_OPTION, FORMAT_OPTION, notesText } from './command.ts'
import { askEachGateway, printAnswers } from './each-gateway.ts'

export function addPurgeCommand(program: Command, context: CommandContext): void {
  program
    .command('purge')
    .description('remove cached responses from a running gateway')
    .addOption(CONFIG_OPTION)
    .option('-e, --engine <NAME>', 'only responses of this engine; default: of all engines')
    .addOption(
      new Option('--tag <TAG>', 'only responses with this tag; default: with any tag').choices(CACHE_TAGS),
    )
    .addOption(ADMINS_OPTION)
    .addOption(TOKEN_FILE_OPTION)
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async ({ config: file, engine, tag, format, ...given }) => {
        const answers = await askEachGateway(given, loadConfig(file), async (address) =>
          purgedOf(await askAdmin(address, ADMIN_ROUTES.purge, { engine, tag })),
        )
        return printAnswers(context, answers, { format, lines: (purged) => [textOf(purged)] }, ({ redis }) =>
          redis === 'none' || redis === 'up' ? 0 : 1,
        )
      }),
    )
}

const NOTES = {
  about: `The command sends POST /cache/purge to the admin listener of a gateway. All workers remove the responses. With
cache.redis, all other gateways that share this Redis remove them too. If Redis is down, they remove them
when it is available again. The tag deployment marks diagrams and definitions, external-task marks topic
names. Records, users and stored results of requests with an Idempotency-Key are not removed.`,
  examples: [
    'engine-gateway purge --config gateway.yaml',
    'engine-gateway purge --engine default --tag deployment --config gateway.yaml',
    'engine-gateway purge --config gateway.yaml --admin http://gateway:9090 --token-file token',
  ],
  exitCodes: [
    [0, 'the responses are removed'],
    [1, 'Redis does not respond: other gateways remove the responses when it is available again'],
    [2, 'invalid arguments, or a gateway or worker that does not respond'],
  ],
} as const

interface Purged {
  readonly evicted: number
  readonly processes: number
  readonly redis: string
}

/** Checks the response of `POST /cache/purge`. @throws CommandError */
function purgedOf(response: unknown): Purged {
  if (isObject(response)) {
    const { evicted, processes, redis } = response
    if (typeof evicted === 'number' && typeof processes === 'number' && typeof redis === 'string')
      return { evicted, processes, redis }
  }
  throw new CommandError('The response is not the result of a purge')
}

function textOf({ evicted, processes, redis }: Purged): string {
  const sum = `${counted(evicted, 'cached response')} removed from ${processes === 1 ? '1 process' : `${processes} processes`}`
  if (redis === 'none') return sum
  return redis === 'up' ? `${sum} and from Redis` : `${sum}; Redis is ${redis}`
}
