import type { Operation } from '../../src/operations/table.ts'
import { type Asker, type Plan, planOf } from './plan.ts'
import { Random } from './random.ts'
import {
  candidateFilters,
  candidateRequests,
  filterRequests,
  type NamedTemplate,
} from './requests/candidates.ts'
import { creations, deletions, usesOf } from './requests/creations.ts'
import { SUBJECTS } from './requests/all.ts'
import {
  type CallerSet,
  type Choice,
  type Directory,
  PASSWORD,
  type RecordText,
  RecordWriter,
} from './sets.ts'

/** As many requests as other sets have. */
const PLANS = 66
const CANDIDATES = 36
const OF_FILTERS = 9
/** The users of both engines whose groups are part of the world. */
const WORLD_USERS = ['anna', 'ben']
const DIRECTORIES: readonly (Directory | undefined)[] = [
  'gateway',
  'elsewhere',
  undefined,
  'gateway',
  undefined,
]

/**
 * Returns sets whose users the gateway and the bare engine know differently. They send task queries with candidate users, and requests
 * of the subjects. Another user is known only to the bare engine and sends nothing. The logged operations on
 * groups are not compared: until the end of the phase, some groups are deleted at the bare engine only.
 */
export function directorySets(indexes: readonly number[], choice: Choice): readonly CallerSet[] {
  const stranger = `stranger${indexes[0] ?? 0}`
  const users = [...indexes.map((index) => `user${index}`), ...WORLD_USERS, stranger]
  return [
    ...indexes.map((index, at) => directorySet(index, { choice, users, directory: DIRECTORIES[at % 5] })),
    {
      ...strangerOf(stranger),
      index: indexes[0] ?? 0,
      joins: ['editors', 'readers'],
      directory: 'bare',
    },
  ]
}

const strangerOf = (user: string) => ({
  user,
  group: 'editors',
  password: PASSWORD,
  ownGroups: [],
  tenants: [],
  links: [],
  records: [],
  plans: [],
})

interface DirectoryChoice {
  readonly choice: Choice
  readonly users: readonly string[]
  readonly directory: Directory | undefined
}

function directorySet(index: number, { choice, users, directory }: DirectoryChoice): CallerSet {
  const random = Random.of(choice.seed, index)
  const { names } = choice
  const user = `user${index}`
  const ownGroups = [`group${index}a`]
  const asker = { user, group: `group${index}a`, password: PASSWORD }
  const someone = (): string => (random.chance(0.5) ? user : random.pick(users))
  const filters = candidateFilters(user, [user, someone(), random.pick(users)], user)
  const plan = (from: () => readonly NamedTemplate[]) =>
    planned(choice, { random, asker, template: random.pick(from()) })
  const candidates = repeat(CANDIDATES, () => plan(() => candidateRequests(someone())))
  const stored = repeat(OF_FILTERS, () =>
    plan(() => filterRequests(random.pick(Object.keys(filters)), someone())),
  )
  const others = ofSubjects(PLANS - CANDIDATES - OF_FILTERS, choice, { random, asker })
  const plans = [...candidates, ...stored, ...others]
  const writer = new RecordWriter({ random, names, user, groups: ownGroups })
  const tasks = names.ofKind('task').filter((name) => !name.includes('Nurse'))
  const [one = '', other = ''] = random.sample(tasks, 2)
  return {
    ...asker,
    index,
    ownGroups,
    joins: random.chance(0.3) ? ['editors'] : [],
    tenants: random.chance(0.2) ? ['acme'] : [],
    links: [
      { task: one, userId: user },
      { task: other, groupId: asker.group },
    ],
    records: withRecords(writer.write(plans.map((single) => [single])).slice(0, 8), [
      ...(random.chance(0.8) ? [grantOf(user, FILTER, ['READ'])] : []),
      ...(random.chance(0.6) ? [grantOf(user, TASK, ['READ'])] : []),
      ...(random.chance(0.25) ? [grantOf(user, GROUP, ['READ'])] : []),
      ...(random.chance(0.3) ? [{ ...grantOf(user, GROUP, ['READ']), resourceId: '<group.editors>' }] : []),
    ]),
    plans: plans.filter(({ path }) => !path.includes('entityType=Group')),
    filters,
    ...(directory !== undefined && { directory }),
  }
}

/**
 * Returns sets whose users create a filter and a deployment and use them. The next creator tries to use and to delete them, too. Some
 * creators delete them at the end.
 */
export function creatorSets(indexes: readonly number[], choice: Choice): readonly CallerSet[] {
  return indexes.map((index) =>
    creatorSet(index, { choice, previous: index === indexes[0] ? null : index - 1 }),
  )
}

function creatorSet(
  index: number,
  { choice, previous }: { choice: Choice; previous: number | null },
): CallerSet {
  const random = Random.of(choice.seed, index)
  const user = `user${index}`
  const asker = { user, group: 'editors', password: PASSWORD }
  const templates = [
    ...creations(index),
    ...usesOf(index),
    ...(previous === null ? [] : [...usesOf(previous), ...deletions(previous)]),
    ...usesOf(index),
    ...(random.chance(0.5) ? deletions(index) : []),
  ]
  const plans = templates.flatMap((template) => planned(choice, { random, asker, template }))
  const writer = new RecordWriter({ random, names: choice.names, user, groups: [] })
  return {
    ...asker,
    index,
    ownGroups: [],
    joins: random.chance(0.3) ? ['readers'] : [],
    tenants: random.chance(0.2) ? ['acme'] : [],
    links: [],
    records: withRecords(writer.write([]), [
      ...(random.chance(0.85) ? [grantOf(user, FILTER, ['CREATE'])] : []),
      ...(random.chance(0.85) ? [grantOf(user, DEPLOYMENT, ['CREATE'])] : []),
    ]),
    plans: [...plans, ...ofSubjects(PLANS - plans.length, choice, { random, asker })],
    inOrder: true,
  }
}

const FILTER = 5
const GROUP = 2
const TASK = 7
const DEPLOYMENT = 9

const grantOf = (userId: string, resourceType: number, permissions: readonly string[]): RecordText => ({
  type: 1,
  userId,
  groupId: null,
  resourceType,
  resourceId: '*',
  permissions,
})

const keyOf = ({ type, userId, groupId, resourceType, resourceId }: RecordText): string =>
  JSON.stringify([type, userId, groupId, resourceType, resourceId])

/** Returns the records, and those of `more` that are not about the same user and id. */
function withRecords(records: readonly RecordText[], more: readonly RecordText[]): readonly RecordText[] {
  const keys = new Set(records.map(keyOf))
  return [...records, ...more.filter((record) => !keys.has(keyOf(record)))]
}

interface Planning {
  readonly random: Random
  readonly asker: Asker
}

/** Returns the plan of a template. Returns none if the run has no such operation. */
function planned(
  { names, operations }: Choice,
  { template, ...planning }: Planning & { template: NamedTemplate },
): readonly Plan[] {
  const operation = operations.find(({ id }) => id === template.operationId)
  return operation === undefined ? [] : [planOf(operation, names, { ...planning, template })]
}

/** Returns requests of the subjects. Each subject gets the same number. */
function ofSubjects(count: number, { names, operations }: Choice, planning: Planning): readonly Plan[] {
  const subjects = Object.values(SUBJECTS).map((templates): readonly Operation[] =>
    operations.filter(({ id }) => Object.hasOwn(templates, id)),
  )
  return Array.from({ length: count }, (_, at) => subjects[at % subjects.length] ?? []).flatMap((some) =>
    some.length === 0 ? [] : [planOf(planning.random.pick(some), names, planning)],
  )
}

function repeat(count: number, plan: () => readonly Plan[]): readonly Plan[] {
  return Array.from({ length: count }, plan).flat()
}
