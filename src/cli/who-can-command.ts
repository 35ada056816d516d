import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import type { KnownSubjects } from '../assembly/runtime.ts'
import { closestOf } from '../config/closest.ts'
import { meantText } from '../config/plain-messages.ts'
import { isShownName, notText, unknownText } from '../config/shown-name.ts'
import { OPERATIONS } from '../operations/all.ts'
import { decidedBy, permissionText, showsNothing } from '../pipeline/explain-text.ts'
import { type Explain, type RequestExplanation, QuestionError } from '../pipeline/explain.ts'
import { counted } from '../pipeline/plural.ts'
import type { Principal } from '../request/principal.ts'
import {
  BODY_OPTION,
  collected,
  type CommandContext,
  CONFIG_OPTION,
  ENGINE_OPTION,
  FORMAT_OPTION,
  notesText,
} from './command.ts'
import { readBody } from './explain-command.ts'
import { linesText, printResponse, requestText, tableLines } from './output.ts'
import { withExplain } from './with-explain.ts'

export function addWhoCanCommand(program: Command, context: CommandContext): void {
  program
    .command('who-can')
    .description('show which users and groups may send a request')
    .argument(
      '<OPERATION>',
      'an operationId of the API, for example startProcessInstanceByKey, or "METHOD /path?query"',
    )
    .addOption(CONFIG_OPTION)
    .option('-p, --path <NAME=VALUE>', 'a path parameter of the operation; may be repeated', collected)
    .addOption(BODY_OPTION)
    .addOption(ENGINE_OPTION)
    .option('--all', 'also show users and groups that may not, with their missing permissions')
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async (operation, { config, path = [], body, engine, all = false, format }) => {
        const request = requestOf(operation, path)
        const question = { engine, request, body: body === undefined ? null : readBody(body) }
        const { subjects, answers } = await withExplain(
          { file: config, ...context },
          async ({ explain, subjectsOf }) => {
            const known = subjectsOf(engine)
            return { subjects: known, answers: await askAs(known, question, explain) }
          },
        )
        printResponse(context, format, {
          text: () => formatSubjects(subjects, answers, all),
          json: () => jsonOf(subjects, answers),
        })
        return answers.some(({ may }) => may) ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `The command makes the decision of explain for each user and each group. For a group, it decides for a user
that is only in this group and has no tenants. "everybody" is a user without groups. Users in a file are all
checked. If users come from an engine, the command cannot list them. It then checks the users that records
name, and the output says so.`,
  examples: [
    'engine-gateway who-can startProcessInstanceByKey --path key=invoice --config gateway.yaml',
    'engine-gateway who-can "GET /task" --all --config gateway.yaml',
  ],
  exitCodes: [
    [0, 'at least one user or group may'],
    [1, 'no user or group may'],
    [2, 'no result: invalid arguments, an invalid configuration, or an engine that does not respond'],
  ],
} as const

/** Returns the request of an operation as `METHOD /path`. @throws InvalidArgumentError */
function requestOf(operation: string, given: readonly string[]): string {
  if (/\s/.test(operation.trim())) {
    if (given.length > 0)
      throw new InvalidArgumentError('--path is for an operationId: the request has its path')
    return operation
  }
  const found = OPERATIONS.find(({ id }) => id === operation)
  if (found === undefined) {
    const meant = operationMeantBy(operation)
    throw new InvalidArgumentError(`${unknownText('operation', operation)}${meantText(meant)}`)
  }
  const names = [...found.template.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const values = new Map(given.map((text) => pathValueOf(text, operation, names)))
  const missing = names.find((name) => !values.has(name))
  if (missing !== undefined)
    throw new InvalidArgumentError(`${operation} is ${found.template}: it needs --path ${missing}=VALUE`)
  return requestText(found, Object.fromEntries(values))
}

/** Returns the operation whose id is closest, or else the shortest one that begins with the given text: `startProcess`. */
function operationMeantBy(text: string): string | null {
  const ids = OPERATIONS.map(({ id }) => id)
  const longer = ids.filter((id) => id.toLowerCase().startsWith(text.toLowerCase()))
  return closestOf(text, ids) ?? longer.toSorted((one, other) => one.length - other.length)[0] ?? null
}

/** Returns the name and value of a path parameter. `tenant-id=a` sets `tenantId`, which is its name in the table. */
function pathValueOf(text: string, operation: string, names: readonly string[]): readonly [string, string] {
  const [, given = '', value = ''] = /^([\w-]+)=(.+)$/s.exec(text) ?? []
  if (given === '') throw new InvalidArgumentError(`--path takes ${notText('NAME=VALUE', text)}`)
  const name = given.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  if (names.includes(name)) return [name, value]
  const known = names.length === 0 ? 'none' : names.join(', ')
  throw new InvalidArgumentError(
    `${operation} has no ${isShownName(given) ? `'${given}'` : 'such name'} in its path, but ${known}`,
  )
}

interface CandidateSubject {
  readonly kind: 'user' | 'group' | 'everybody'
  readonly name: string
  /** The principal whose requests are decided. Null if the source of users provides it. */
  readonly principal: Principal | null
}

interface SubjectResult extends Pick<CandidateSubject, 'kind' | 'name'> {
  readonly may: boolean
  readonly explained: RequestExplanation
}

type WhoCanQuestion = Parameters<Explain>[0]

/** Handles one subject at a time, because the engine also serves other clients. */
async function askAs(
  { users, groups, areListed }: KnownSubjects,
  question: Omit<WhoCanQuestion, 'user'>,
  explain: Explain,
): Promise<readonly SubjectResult[]> {
  const results: SubjectResult[] = []
  // No engine has a user with this random id.
  const userId = randomUUID()
  const subjects: readonly CandidateSubject[] = [
    { kind: 'everybody', name: '*', principal: { userId, groups: [], tenants: [] } },
    ...groups.map((name) => ({
      kind: 'group' as const,
      name,
      principal: { userId, groups: [name], tenants: [] },
    })),
    ...users.map((name) => ({ kind: 'user' as const, name, principal: null })),
  ]
  for (const { kind, name, principal } of subjects) {
    const explained = await explain({ ...question, user: name }, principal ?? undefined).catch(
      (error: unknown) => {
        // A record may name a user that was deleted in the engine.
        if (!areListed && kind === 'user' && error instanceof QuestionError) return null
        throw error
      },
    )
    if (explained === null) continue
    const may = explained.decision === 'permitted' && !showsNothing(explained)
    results.push({ kind, name, may, explained })
  }
  checkDecided(results)
  return results
}

/**
 * Checks that at least one result depends on permissions. A body that is refused for every caller says nothing about them.
 * @throws QuestionError
 */
function checkDecided(results: readonly SubjectResult[]): void {
  const [first] = results.map(({ explained }) => explained)
  if (first?.response == null) return
  if (results.every(({ explained }) => explained.response !== null && explained.stage !== 'permit'))
    throw new QuestionError(
      `${first.request} is refused at stage ${first.stage} for every caller: ${first.response.status} ${JSON.stringify(first.response.body)}`,
    )
}

function formatSubjects(
  { areListed }: KnownSubjects,
  results: readonly SubjectResult[],
  isAll: boolean,
): string {
  const [first] = results
  if (first === undefined) return ''
  const { request, operation, engine, modes } = first.explained
  const shown = results.filter(({ may }) => may || isAll)
  const rows = shown.map(({ kind, name, may, explained }) => [
    may ? 'may' : 'may not',
    kind,
    name,
    may ? reasonWhy(explained) : reasonWhyNot(explained),
  ])
  const off = Object.entries(modes).filter(([, mode]) => mode !== 'enforce')
  return linesText([
    `${request} (${operation}) at engine ${engine}`,
    ...off.map(([name, mode]) => `${name}.mode is ${mode}: the gateway does not refuse these requests`),
    '',
    ...tableLines(rows),
    ...(shown.length === 0 ? [] : ['']),
    sumOf(results),
    ...(areListed
      ? []
      : [
          `The users of engine ${engine} come from the engine and cannot be listed. Only users that records name were checked`,
        ]),
  ])
}

function sumOf(results: readonly SubjectResult[]): string {
  const parts = (['user', 'group'] as const).map((kind) => {
    const all = results.filter((answer) => answer.kind === kind)
    return `${all.filter(({ may }) => may).length} of ${counted(all.length, kind)}`
  })
  const isOpen = results.some(({ kind, may }) => kind === 'everybody' && may)
  return `${parts.join(' and ')} may${isOpen ? ', and so may every other user' : ''}`
}

/** Returns the first record that grants the request, and which items are visible. */
function reasonWhy({ policy }: RequestExplanation): string {
  if (policy === null) return ''
  const granting = policy.checks
    .flatMap(({ decisions }) => decisions.flatMap(({ permissions }) => permissions))
    .find(({ record }) => record?.permitted === true)
  const parts = [
    ...(policy.items === null ? [] : [policy.items.sees]),
    ...(granting === undefined ? [] : [decidedBy(granting.record, granting.resource)]),
  ]
  return parts.length === 0 ? 'no check: being authenticated is enough' : parts.join(', ')
}

function reasonWhyNot({ stage, response, policy }: RequestExplanation): string {
  const missing = (policy?.missing ?? []).map(permissionText)
  if (missing.length > 0) return `missing ${[...new Set(missing)].join(', ')}`
  if (response === null) return 'no visible items'
  return `refused at stage ${stage}: ${response.status}${response.reason === null ? '' : `, ${response.reason}`}`
}

function jsonOf({ areListed }: KnownSubjects, results: readonly SubjectResult[]): unknown {
  const [first] = results
  return {
    request: first?.explained.request ?? null,
    operation: first?.explained.operation ?? null,
    engine: first?.explained.engine ?? null,
    modes: first?.explained.modes ?? null,
    usersAreListed: areListed,
    subjects: results.map(({ kind, name, may, explained: { stage, response, policy } }) => ({
      kind,
      name,
      may,
      items: policy?.items?.sees ?? null,
      stage,
      status: response?.status ?? null,
      missing: policy?.missing ?? [],
    })),
  }
}
