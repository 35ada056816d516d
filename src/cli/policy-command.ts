import { readFileSync } from 'node:fs'
import { Argument, type Command } from 'commander'
import { ConfigError } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { type PolicyTest, policyTestsOf } from '../files/policy-tests-file.ts'
import { permissionText } from '../pipeline/explain-text.ts'
import { type Explain, type RequestExplanation, QuestionError, questionOf } from '../pipeline/explain.ts'
import { type CommandContext, CONFIG_OPTION, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse } from './output.ts'
import { hasNoResponse } from './command-failure.ts'
import { withExplain } from './with-explain.ts'
import { counted } from '../pipeline/plural.ts'

/** A test and its result. */
interface PolicyTestResult {
  readonly test: PolicyTest
  readonly explained: RequestExplanation
  /** The differences from the expectation. Empty if the test passes. */
  readonly differences: readonly string[]
}

export function addPolicyCommand(program: Command, context: CommandContext): void {
  program
    .command('policy')
    .usage('test [options] <FILE>')
    .description('compare decisions with the expected decisions in a file')
    .addArgument(new Argument('<ACTION>', 'the only action').choices(['test'] as const))
    .argument('<FILE>', 'the file with the expected decisions')
    .addOption(CONFIG_OPTION)
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exits(
        async (_, file, { config, format }) => {
          const tests = policyTestsOf(readText(file), file)
          const results = await withExplain({ file: config, ...context }, ({ explain }) =>
            runAll(tests, explain),
          )
          printResponse(context, format, {
            text: () => formatTestResults(results),
            json: () => results.map(jsonOf),
          })
          return results.every(isAsExpected) ? 0 : 1
        },
        { failure: 2 },
      ),
    )
}

const NOTES = {
  about: `The command only reads from the engine, and only the data that the decisions need. It changes nothing.
The format of the file:

  tests:
    - user: mary
      request: POST /signal
      body: { name: stopAll }
      expect: refuse          # or permit
      engine: default         # optional, this is the default
      rows: some              # for a permitted list: all, some or none
      status: 403             # for a refused request
      name: clerks stop nothing`,
  examples: ['engine-gateway policy test policy.yaml --config gateway.yaml'],
  exitCodes: [
    [0, 'all decisions are as expected'],
    [1, 'some decisions are not as expected'],
    [2, 'no result: invalid arguments, an invalid file, or an engine that does not respond'],
  ],
} as const

/** Reads the file of tests. @throws ConfigError */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(file, [messageOf(cause)])
  }
}

/** Runs the tests one after the other, because the engine also serves other clients. @throws QuestionError that names the test */
async function runAll(tests: readonly PolicyTest[], explain: Explain): Promise<readonly PolicyTestResult[]> {
  const results: PolicyTestResult[] = []
  for (const [at, test] of tests.entries()) {
    const explained = await explain(questionOf(test)).catch((error: unknown) => {
      if (error instanceof QuestionError || hasNoResponse(error))
        throw new QuestionError(`tests[${at}] (${nameOf(test)}): ${error.message}`, { cause: error })
      throw error
    })
    results.push({ test, explained, differences: differencesOf(test, explained) })
  }
  return results
}

function differencesOf(
  { expect, rows, status }: PolicyTest,
  explained: RequestExplanation,
): readonly string[] {
  const decision = explained.decision === 'permitted' ? 'permit' : 'refuse'
  if (decision !== expect) return [`${expect} is expected`]
  return [
    ...(rows === undefined || rows === rowsOf(explained) ? [] : [`rows: ${rows} is expected`]),
    ...(status === undefined || status === explained.answer?.status ? [] : [`status ${status} is expected`]),
  ]
}

const ROWS = {
  'all rows': 'all',
  'some rows': 'some',
  'no rows': 'none',
  'cannot be told exactly': null,
} as const

/** Returns null if the response is not a list, if the request is refused, or if the visible items are unknown. */
function rowsOf({ decision, policy }: RequestExplanation): PolicyTest['rows'] | null {
  const sees = policy?.rows?.sees
  return decision === 'refused' || sees === undefined ? null : ROWS[sees]
}

function isAsExpected({ differences }: PolicyTestResult): boolean {
  return differences.length === 0
}

function nameOf({ name, user, request }: PolicyTest): string {
  return name ?? `${user} ${request}`
}

function formatTestResults(results: readonly PolicyTestResult[]): string {
  const failed = results.filter((result) => !isAsExpected(result)).length
  const lines = results.map((result) => {
    const { test, explained, differences } = result
    const found = `${nameOf(test)}: ${decisionText(explained)}`
    return isAsExpected(result) ? `ok      ${found}` : `FAILED  ${found}; ${differences.join(', ')}`
  })
  const sum =
    failed === 0
      ? `${counted(results.length, 'decision')} as expected`
      : `${failed} of ${counted(results.length, 'decision')} not as expected`
  return linesText([...lines, sum])
}

function decisionText(explained: RequestExplanation): string {
  const { decision, stage, answer, policy } = explained
  if (decision === 'permitted') return policy?.rows ? `permitted, ${policy.rows.sees}` : 'permitted'
  const missing = policy?.missing.map(permissionText) ?? []
  const why = missing.length === 0 ? '' : `: missing ${missing.join(', ')}`
  return `refused at stage ${stage} with ${answer?.status}${why}`
}

function jsonOf({ test, explained, differences }: PolicyTestResult): unknown {
  const { user, engine, request, expect } = test
  return {
    name: nameOf(test),
    user,
    engine: engine ?? explained.engine,
    request,
    expect,
    asExpected: differences.length === 0,
    differences,
    decision: explained.decision,
    rows: rowsOf(explained),
    stage: explained.stage,
    status: explained.answer?.status ?? null,
    missing: explained.policy?.missing ?? [],
  }
}
