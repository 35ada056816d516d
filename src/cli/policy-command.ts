import { Argument, type Command, InvalidArgumentError } from 'commander'
import { ConfigError } from '../config/config.ts'
import { type PolicyTest, policyTestsOf } from '../files/policy-tests-file.ts'
import { factProblemsOf } from '../policy/authz/entities/entity-facts.ts'
import { permissionText } from '../pipeline/explain-text.ts'
import { type Explain, type RequestExplanation, QuestionError, questionOf } from '../pipeline/explain.ts'
import { collected, type CommandContext, ENGINE_OPTION, FORMAT_OPTION, notesText } from './command.ts'
import { changesDecisions, comparePolicies, policyDiffJson, policyDiffText } from './policy-diff.ts'
import { readText } from './read-text.ts'
import { linesText, printResponse } from './output.ts'
import { hasNoResponse } from './command-failure.ts'
import { withExplain } from './with-explain.ts'
import { counted } from '../pipeline/plural.ts'

interface PolicyTestResult {
  readonly test: PolicyTest
  readonly explained: RequestExplanation
  /** The differences from the expectation. Empty if the test passes. */
  readonly differences: readonly string[]
}

export function addPolicyCommand(program: Command, context: CommandContext): void {
  program
    .command('policy')
    .usage('test|diff [options] <FILE> [NEW]')
    .description('compare decisions with expected decisions, or two policies with each other')
    .addArgument(new Argument('<ACTION>', 'the action').choices(['test', 'diff'] as const))
    .argument(
      '<FILE>',
      'test: the file with the expected decisions. diff: the old records, or an old configuration',
    )
    .argument('[NEW]', 'diff: the new records, or a new configuration')
    .option(
      '-c, --config <FILE>',
      'the configuration file. test: required. diff: its settings and users apply to files with records',
    )
    .addOption(ENGINE_OPTION)
    .option('--users <FILE>', 'diff: a file with users, instead of those of a configuration')
    .option(
      '--audit <FILE>',
      'diff: a file with audit lines, also with the ending .gz; may be repeated',
      collected,
    )
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async (action, file, fresh, { config, engine, users, audit, format }) => {
        if (action === 'test') {
          if (fresh !== undefined)
            throw new InvalidArgumentError("too many arguments for 'policy'. Expected 2 arguments but got 3")
          if (config === undefined)
            throw new InvalidArgumentError("required option '-c, --config <FILE>' not specified")
          return runTests(file, { config, format }, context)
        }
        if (fresh === undefined) throw new InvalidArgumentError("missing required argument 'NEW'")
        const diff = await comparePolicies({ before: file, after: fresh }, { config, engine, users, audit })
        printResponse(context, format, {
          text: () => policyDiffText(diff),
          json: () => policyDiffJson(diff),
        })
        return changesDecisions(diff) ? 1 : 0
      }),
    )
}

async function runTests(
  file: string,
  { config, format }: { readonly config: string; readonly format: 'text' | 'json' },
  context: CommandContext,
): Promise<number> {
  const { tests, facts = null } = policyTestsOf(readText(file), file)
  const problems = facts === null ? [] : factProblemsOf(facts)
  if (problems.length > 0) throw new ConfigError(file, problems)
  const results = await withExplain({ file: config, facts, ...context }, ({ explain }) =>
    runAll(tests, explain),
  )
  printResponse(context, format, {
    text: () => formatTestResults(results),
    json: () => results.map(jsonOf),
  })
  return results.every(isAsExpected) ? 0 : 1
}

const NOTES = {
  about: `test only reads from the engine, and only the data that the decisions need. It changes nothing.
The format of the file:

  tests:
    - user: mary
      request: POST /signal
      body: { name: stopAll }
      expect: refuse          # or permit
      engine: default         # optional, this is the default
      items: some             # for a permitted list: all, some or none
      status: 403             # for a refused request
      name: clerks stop nothing
  facts:                      # optional: with facts, no request is sent to an engine
    task:
      t1: { processDefinitionKey: invoice, assignee: mary }

diff shows who gains or loses which permission, and which records have no effect because others decide. With
--audit, it also decides the requests of the lines by the new policy. The old policy must be the one that
decided them. A request is not decidable if the line does not contain what the decision depends on. A setting
of authorization that differs counts as a change if its effects are not compared.`,
  examples: [
    'engine-gateway policy test policy.yaml --config gateway.yaml',
    'engine-gateway policy diff old.yaml new.yaml --config gateway.yaml --audit audit.jsonl',
    'engine-gateway policy diff old/gateway.yaml new/gateway.yaml --engine orders --format json',
  ],
  exitCodes: [
    [0, 'test: all decisions are as expected. diff: no caller gains or loses a permission'],
    [1, 'test: a decision differs from the file. diff: a permission is gained or lost, or a setting differs'],
    [2, 'no result: invalid arguments, an invalid file, or an engine that does not respond'],
  ],
} as const

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
  { expect, items, status }: PolicyTest,
  explained: RequestExplanation,
): readonly string[] {
  const decision = explained.decision === 'permitted' ? 'permit' : 'refuse'
  if (decision !== expect) return [`${expect} is expected`]
  return [
    ...(items === undefined || items === visibleItemsOf(explained) ? [] : [`items: ${items} is expected`]),
    ...(status === undefined || status === explained.response?.status
      ? []
      : [`status ${status} is expected`]),
  ]
}

const VISIBLE_ITEMS = {
  'all items': 'all',
  'some items': 'some',
  'no items': 'none',
  'cannot be told exactly': null,
} as const

/** Returns null if the response is not a list, if the request is refused, or if the visible items are unknown. */
function visibleItemsOf({ decision, policy }: RequestExplanation): PolicyTest['items'] | null {
  const sees = policy?.items?.sees
  return decision === 'refused' || sees === undefined ? null : VISIBLE_ITEMS[sees]
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
  const { decision, stage, response, policy } = explained
  if (decision === 'permitted') return policy?.items ? `permitted, ${policy.items.sees}` : 'permitted'
  const missing = policy?.missing.map(permissionText) ?? []
  const why = missing.length === 0 ? '' : `: missing ${missing.join(', ')}`
  return `refused at stage ${stage} with ${response?.status}${why}`
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
    items: visibleItemsOf(explained),
    stage: explained.stage,
    status: explained.response?.status ?? null,
    missing: explained.policy?.missing ?? [],
  }
}
