import type { Config } from '../config/config.ts'
import { type AdminAddress, adminAddressesOf, nameOfAdmin } from './ask-admin.ts'
import { CommandError } from './command-failure.ts'
import type { CommandContext } from './command.ts'
import { linesText, printResponse } from './output.ts'

interface GatewayAnswer<Result> {
  /** Names the gateway. Null if only one was asked. */
  readonly admin: string | null
  readonly result: Result
}

interface GatewayAnswers<Result> {
  readonly answers: readonly GatewayAnswer<Result>[]
  /** Why the other gateways gave no answer. */
  readonly problems: readonly string[]
}

/** Asks all gateways that the options name, at the same time. @throws CommandError if the only one fails */
export async function askEachGateway<Result>(
  given: Parameters<typeof adminAddressesOf>[0],
  config: Config,
  ask: (address: AdminAddress) => Promise<Result>,
): Promise<GatewayAnswers<Result>> {
  const addresses = await adminAddressesOf(given, config)
  const [only] = addresses
  if (only !== undefined && addresses.length === 1)
    return { answers: [{ admin: null, result: await ask(only) }], problems: [] }
  const answers: GatewayAnswer<Result>[] = []
  const problems: string[] = []
  for (const [at, outcome] of (await Promise.allSettled(addresses.map(ask))).entries()) {
    const address = addresses[at]
    if (outcome.status === 'fulfilled' && address !== undefined)
      answers.push({ admin: nameOfAdmin(address), result: outcome.value })
    else if (outcome.status === 'rejected') problems.push(problemOf(outcome.reason))
  }
  return { answers, problems }
}

/** @throws the error, unless it is the failure of a command */
function problemOf(error: unknown): string {
  if (error instanceof CommandError) return error.message
  throw error
}

interface Printed<Result> {
  readonly format: 'text' | 'json'
  readonly lines: (result: Result) => readonly string[]
}

/** Prints the answers of all gateways. Returns the exit code: 2 if a gateway gave none, otherwise the highest one of the results. */
export function printAnswers<Result extends object>(
  context: Pick<CommandContext, 'stdout' | 'stderr'>,
  { answers, problems }: GatewayAnswers<Result>,
  { format, lines }: Printed<Result>,
  exitCodeOf: (result: Result) => number,
): number {
  printResponse(context, format, {
    text: () =>
      answers.length === 0
        ? ''
        : linesText(
            answers.flatMap(({ admin, result }) =>
              lines(result).map((line) => (admin === null ? line : `${admin}: ${line}`)),
            ),
          ),
    json: () => {
      const [first] = answers
      return first?.admin === null ? first.result : answers.map(({ admin, result }) => ({ admin, ...result }))
    },
  })
  if (problems.length === 0) return Math.max(0, ...answers.map(({ result }) => exitCodeOf(result)))
  context.stderr.write(linesText(problems))
  return 2
}
