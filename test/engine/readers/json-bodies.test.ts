import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { bodyValue, bodyFlag, bodyTexts, bodyText } from '../../../src/request/body.ts'
import { readJson } from '../../../src/request/json.ts'
import { isDateText } from '../../../src/policy/validation/schemas/jackson.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders, type Outcome } from './compare.ts'
import { arrayToken, documentBytes, numberToken, objectToken, stringToken, valueToken } from './json-texts.ts'
import { answerOf, openEngine } from './open-engine.ts'
import { refusalOf } from './verdicts.ts'
import { jsonOf, type Told } from './wire.ts'
import { words } from './texts.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Reasons for which the gateway refuses a body that the engine accepts. Each is listed in docs/deviations.md. */
const REFUSED_ALL_THE_SAME =
  /: it is (?:null|not UTF-8|nested deeper)|: a member is (?:repeated|named __proto__)|: the name of a member is longer/

type Read = { readonly body: unknown } | { readonly why: string }

function read(bytes: Buffer): Read {
  try {
    return { body: readJson(bytes) }
  } catch (error) {
    if (error instanceof GatewayError) return { why: error.message }
    throw error
  }
}

/** Returns the outcome for a body that the gateway refuses. The engine must refuse it too, unless the reason is documented. */
function refusal(why: string, told: Told): Outcome {
  return told.status >= 400 || REFUSED_ALL_THE_SAME.test(why)
    ? 'refused'
    : { engine: answerOf(told), gateway: why }
}

t.test('the engine parses JSON as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask } = await openEngine(t)

  await compareReaders(t, {
    what: 'texts, numbers and lists of a record',
    inputs: 4000,
    part: 11,
    make: makeRecord,
    compare: async (bytes) => {
      const told = await ask({
        method: 'POST',
        path: '/authorization/create',
        headers: JSON_TYPE,
        body: bytes,
      })
      const given = read(bytes)
      if ('why' in given) return refusal(given.why, told)
      const { body } = given
      const verdict = refusalOf('createAuthorization', { params: {}, query: new Map(), body }, 'all')
      if (verdict === 'unmapped')
        return told.status === 400 ? 'refused' : { engine: answerOf(told), gateway: verdict }
      if (verdict !== null) return differenceOf(answerOf(told), verdict)
      if (told.status !== 200) return null
      const echo: unknown = jsonOf(told)
      const gateway = Object.fromEntries(
        ['userId', 'groupId', 'resourceId'].map((name) => [name, bodyText(body, name)]),
      )
      const engine = Object.fromEntries(Object.keys(gateway).map((name) => [name, bodyValue(echo, name)]))
      return differenceOf(engine, gateway)
    },
  })

  await compareReaders(t, {
    what: 'members of a query',
    inputs: 4000,
    part: 12,
    make: makeFilter,
    compare: async (bytes) => {
      const told = await ask({ method: 'POST', path: '/filter/create', headers: JSON_TYPE, body: bytes })
      const given = read(bytes)
      if ('why' in given) return refusal(given.why, told)
      if (told.status !== 200) return null
      const { body } = given
      const echo: unknown = jsonOf(told)
      const gateway = {
        flags: FLAGS.map((name) => bodyFlag(body, `query.${name}`)),
        texts: TEXTS.map((name) => buffered(name, bodyText(body, name))),
        lists: LISTS.map((name) =>
          setOf(bodyTexts(body, `query.${name}`).map((one) => buffered('query.', one) ?? '')),
        ),
      }
      const engine = {
        flags: FLAGS.map((name) => bodyValue(echo, `query.${name}`) === true),
        texts: TEXTS.map((name) => bodyValue(echo, name) ?? null),
        lists: LISTS.map((name) => setOf(listIn(bodyValue(echo, `query.${name}`)))),
      }
      return differenceOf(engine, gateway)
    },
  })

  await compareReaders(t, {
    what: 'dates',
    inputs: 2500,
    part: 14,
    make: makeDate,
    compare: async (date) => {
      const body = JSON.stringify({ createdAfter: date })
      const told = await ask({ method: 'POST', path: '/task/count', headers: JSON_TYPE, body })
      // The gateway does not know all names of time zones. The engine itself refuses unknown names.
      return told.status === 200 && !isDateText(date) ? { engine: answerOf(told), gateway: false } : null
    },
  })

  await compareReaders(t, {
    what: 'queries for tasks',
    inputs: 4000,
    part: 13,
    make: (random) => documentBytes(random, queryToken(random)),
    compare: async (bytes) => {
      const told = await ask({ method: 'POST', path: '/task/count', headers: JSON_TYPE, body: bytes })
      const given = read(bytes)
      if ('why' in given) return refusal(given.why, told)
      const verdict = refusalOf('queryTasksCount', { params: {}, query: new Map(), body: given.body })
      if (verdict === null) return null
      if (verdict === 'unmapped')
        return told.status === 400 ? null : { engine: answerOf(told), gateway: verdict }
      return differenceOf(answerOf(told), verdict)
    },
  })
})

/** Removes the sign of a zero in the query of a filter. The engine parses this query twice, and the sign is lost in between. */
function buffered(name: string, text: string | null): string | null {
  return text === '-0' && name.startsWith('query.') ? '0' : text
}

function differenceOf(engine: unknown, gateway: unknown): Outcome {
  return JSON.stringify(engine) === JSON.stringify(gateway) ? null : { engine, gateway }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.filter((one) => one !== null) : []
}

/** Returns the sorted distinct items, because the engine stores some lists as sets. */
function setOf(items: readonly unknown[]): readonly string[] {
  return [...new Set(items.map(String))].sort()
}

function makeRecord(random: Random, place: number): Buffer {
  const own = `"r${place}-${random.pick(['', 'ä', '\\u0041', '\\/', ' ', '\\t'])}"`
  const any = valueToken(random, random.chance(0.1) ? 2 : 0)
  const [who, on] = random.chance(0.5) ? [own, any] : [any, own]
  const members: (readonly [string, string])[] = [
    ['"type"', random.chance(0.7) ? '1' : random.chance(0.5) ? numberToken(random) : valueToken(random)],
    [
      '"permissions"',
      random.chance(0.9)
        ? random.pick(['["READ"]', '[ ]', '["ALL"]', '["READ" , "UPDATE"]'])
        : valueToken(random),
    ],
    [random.chance(0.8) ? '"userId"' : '"groupId"', who],
    [
      '"resourceType"',
      random.chance(0.8)
        ? '7'
        : random.chance(0.5)
          ? numberToken(random)
          : stringToken(random, ['7', ' ', '+', '0', '\\t', '\u0667', '\u00a0']),
    ],
    ['"resourceId"', on],
  ]
  if (random.chance(0.2)) members.push([stringToken(random), valueToken(random, 3)])
  return documentBytes(random, objectToken(random, members))
}

const FLAGS = ['assigned', 'suspended', 'unassigned', 'withoutTenantId', 'withoutDueDate']
const TEXTS = ['name', 'owner', 'query.name', 'query.assignee', 'query.processDefinitionKey']
const LISTS = ['taskDefinitionKeyIn', 'processInstanceIdIn', 'assigneeIn']
const FLAG_PIECES = [
  ...words(String.raw`true true True TRUE tRUE false False \t \u0000 \u001f null 1 0 \n T`),
  ' ',
  '\u00a0',
  '\u2003',
  '',
]

function flagToken(random: Random): string {
  const kind = random.below(6)
  if (kind < 2) return random.pick(['true', 'false', 'null'])
  if (kind < 3) return numberToken(random)
  return kind < 5 ? stringToken(random, FLAG_PIECES) : valueToken(random, 1)
}

function makeFilter(random: Random): Buffer {
  const query: (readonly [string, string])[] = []
  for (const name of random.sample(FLAGS, random.below(3))) query.push([`"${name}"`, flagToken(random)])
  for (const name of random.sample(TEXTS.slice(2), random.below(2)))
    query.push([`"${name.replace('query.', '')}"`, valueToken(random, 1)])
  for (const name of random.sample(LISTS, random.below(3)))
    query.push([
      `"${name}"`,
      random.chance(0.9)
        ? arrayToken(
            random,
            Array.from({ length: random.below(4) }, () => valueToken(random, random.chance(0.1) ? 1 : 0)),
          )
        : valueToken(random),
    ])
  const members: (readonly [string, string])[] = [
    ['"resourceType"', random.chance(0.98) ? '"Task"' : valueToken(random)],
    ['"name"', random.chance(0.5) ? '"n"' : valueToken(random, random.chance(0.1) ? 1 : 0)],
    ['"query"', objectToken(random, query)],
  ]
  if (random.chance(0.5)) members.push(['"owner"', valueToken(random, 0)])
  if (random.chance(0.2))
    members.push(['"properties"', objectToken(random, [[stringToken(random), valueToken(random)]])])
  return documentBytes(random, objectToken(random, members))
}

const DATE_PIECES = [
  ...words(String.raw`
    2020-01-01T00:00:00.000+0000 2020-01-01T00:00:00.000+0000 2020-01-01T00:00:00.000 2020 -01
    -1 T 00:00 :00 : .0 .000 +0000 -0500 Z UTC GMT GMT+1 GMT+01:00 +01:00 +2359 +2400 null
    \u0000 \t PST x ١ - + ∞ CET E 1e3 GMT- UT +1 +0 MESZ MEZ Ä
  `),
  ' ',
  '\u00a0',
  '\u2003',
]
const DATE_ZONES = words('+0000 +0000 +0000 UTC PST GMT+1 Z +01:00 CET UT z')
const DATE_ODDITIES = [
  ...words('- + 0 9 . : T x e E E1 E-1 1 , ∞ NaN ١ ０ \u2212'),
  ' ',
  '\t',
  '\n',
  '\f',
  '\v',
  '\u0001',
  '\u001f',
  '\u00a0',
  '\u2003',
  '\u3000',
  '\ufeff',
  '\u0085',
  '',
]

/** Makes a date in which characters are replaced or inserted. */
function makeDate(random: Random): string {
  const letters = `2020-01-01T00:00:00.000${random.pick(DATE_ZONES)}`.split('')
  for (let left = random.pick([1, 1, 2, 3]); left > 0; left -= 1)
    letters.splice(random.below(letters.length + 1), random.below(2), random.pick(DATE_ODDITIES))
  return letters.join('')
}

const WHOLE_PIECES = [
  ...words(String.raw`5 0 12 - + \t \u0000 .0 null e1 x ٣ 2147483647 2147483648 _ 𝟏 ０ L`),
  ' ',
  '\u00a0',
  '',
]
const ORDER_PIECES = [...words('name asc desc ASC priority dueDate taskVariable x Name id'), ' ']
const OPERATOR_PIECES = [...words('eq neq like notLike gt lteq EQ x Like'), ' ']
const TYPE_PIECES = [...words('String string Integer date x Object null Json Long STRING'), '', ' ']

function queryToken(random: Random, depth = 1): string {
  const makers: Readonly<Record<string, () => [string, string]>> = {
    flag: () => [random.pick([...FLAGS, 'includeAssignedTasks', 'withCandidateUsers']), flagToken(random)],
    whole: () => [
      random.pick(['priority', 'minPriority', 'maxPriority']),
      random.chance(0.4)
        ? stringToken(random, WHOLE_PIECES)
        : random.chance(0.7)
          ? numberToken(random)
          : valueToken(random),
    ],
    date: () => [
      random.pick(['createdAfter', 'due', 'dueDate', 'dueAfter', 'created', 'createdOn', 'followUp']),
      random.chance(0.8)
        ? stringToken(random, DATE_PIECES)
        : random.chance(0.7)
          ? numberToken(random)
          : valueToken(random),
    ],
    text: () => [
      random.pick(['name', 'assignee', 'candidateUser', 'candidateGroup', 'delegationState']),
      random.chance(0.3)
        ? random.pick(['"PENDING"', '"Resolved"', '"pendıng"', '"resolved "'])
        : valueToken(random),
    ],
    list: () => [
      random.pick(['taskIdIn', 'tenantIdIn', 'assigneeIn', 'candidateGroups', 'processDefinitionKeyIn']),
      random.chance(0.8)
        ? arrayToken(
            random,
            Array.from({ length: random.below(3) }, () => valueToken(random, 0)),
          )
        : valueToken(random),
    ],
    filters: () => [
      random.pick(['taskVariables', 'processVariables']),
      random.chance(0.9)
        ? arrayToken(
            random,
            Array.from({ length: random.below(3) }, () => filterToken(random)),
          )
        : valueToken(random),
    ],
    order: () => [
      random.pick(['sortBy', 'sortOrder']),
      random.chance(0.8) ? stringToken(random, ORDER_PIECES) : valueToken(random, 0),
    ],
    sorting: () => [
      'sorting',
      random.chance(0.9)
        ? arrayToken(
            random,
            Array.from({ length: random.below(3) }, () => sortToken(random)),
          )
        : valueToken(random),
    ],
    blocks: () => [
      'orQueries',
      depth > 0
        ? arrayToken(
            random,
            Array.from({ length: random.below(3) }, () => queryToken(random, depth - 1)),
          )
        : valueToken(random),
    ],
    other: () => [random.pick(['x', 'Priority', 'names', 'id']), valueToken(random)],
  }
  const members = new Map<string, string>()
  for (let left = random.pick([0, 1, 1, 2, 3]); left > 0; left -= 1) {
    const [name, value] = makers[random.pick(Object.keys(makers))]?.() ?? ['', '']
    members.set(`"${name}"`, value)
  }
  return objectToken(random, [...members])
}

function filterToken(random: Random): string {
  if (random.chance(0.05)) return valueToken(random)
  const members: (readonly [string, string])[] = []
  if (random.chance(0.95)) members.push(['"name"', random.chance(0.9) ? '"color"' : valueToken(random, 0)])
  if (random.chance(0.95))
    members.push([
      '"operator"',
      random.chance(0.9) ? stringToken(random, OPERATOR_PIECES) : valueToken(random, 0),
    ])
  if (random.chance(0.95))
    members.push(['"value"', random.chance(0.7) ? valueToken(random, 0) : stringToken(random, DATE_PIECES)])
  return objectToken(random, members)
}

function sortToken(random: Random): string {
  if (random.chance(0.05)) return valueToken(random)
  const members: (readonly [string, string])[] = []
  if (random.chance(0.9)) members.push(['"sortBy"', stringToken(random, ORDER_PIECES)])
  if (random.chance(0.9)) members.push(['"sortOrder"', stringToken(random, ORDER_PIECES)])
  if (random.chance(0.3))
    members.push([
      '"parameters"',
      objectToken(random, [
        ['"variable"', random.chance(0.8) ? '"v"' : valueToken(random, 0)],
        ['"type"', stringToken(random, TYPE_PIECES)],
      ]),
    ])
  return objectToken(random, members)
}
