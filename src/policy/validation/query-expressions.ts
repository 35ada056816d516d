/**
 * The value of an expression in a task query: a date, the id of the caller, or the list of the caller's groups. The engine
 * evaluates a date. It does not know the caller if it has no authentication.
 */
export type ExpressionValue = 'date' | 'caller id' | 'caller groups'

/** Types of the parts of an expression. Each call is of a function, or of a method of the part before it. */
type PartType = ExpressionValue | 'date-time' | 'field'

/** The smallest and the largest value of an argument. All arguments are whole numbers. */
type Range = readonly [number, number]

/** A call that an expression may contain: the type of its result, and its arguments. */
interface Call {
  readonly gives: PartType
  readonly ranges: readonly Range[]
}

const call = (gives: PartType, ...ranges: readonly Range[]): Call => ({ gives, ranges })

/** The functions with which an expression may begin. */
const FUNCTIONS: Readonly<Record<string, Call>> = {
  currentUser: call('caller id'),
  currentUserGroups: call('caller groups'),
  now: call('date'),
  dateTime: call('date-time'),
}

/** The largest amounts of date arithmetic. Together with the length of an expression they bound the years of a result. */
const AMOUNTS: Readonly<Record<string, number>> = {
  Years: 999,
  Months: 9_999,
  Weeks: 9_999,
  Days: 99_999,
  Hours: 999_999,
  Minutes: 9_999_999,
  Seconds: 99_999_999,
  Millis: 999_999_999,
}

/** The fields of a date that can be set. The engine accepts each of these values for every date: the 31st is an error in April. */
const FIELDS: Readonly<Record<string, Range>> = {
  MonthOfYear: [1, 12],
  WeekOfWeekyear: [1, 52],
  DayOfYear: [1, 365],
  DayOfMonth: [1, 28],
  DayOfWeek: [1, 7],
  HourOfDay: [0, 23],
  MinuteOfHour: [0, 59],
  SecondOfMinute: [0, 59],
  MillisOfSecond: [0, 999],
}

/** The methods of a `DateTime` of the library Joda-Time. */
const DATE_TIME_METHODS: Readonly<Record<string, Call>> = {
  ...Object.fromEntries(
    Object.entries(AMOUNTS).flatMap(([unit, largest]) => [
      [`plus${unit}`, call('date-time', [0, largest])],
      [`minus${unit}`, call('date-time', [0, largest])],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(FIELDS).flatMap(([field, range]) => [
      [`with${field}`, call('date-time', range)],
      [field.charAt(0).toLowerCase() + field.slice(1), call('field')],
    ]),
  ),
  // The year is no field here: its smallest and largest values are beyond all databases, and arithmetic on them is an error.
  withYear: call('date-time', [1, 9_999]),
  withTimeAtStartOfDay: call('date-time'),
  withTime: call('date-time', [0, 23], [0, 59], [0, 59], [0, 999]),
  toDate: call('date'),
}

/** The methods of a field of a date, which return a whole date. */
const FIELD_METHODS: Readonly<Record<string, Call>> = {
  withMinimumValue: call('date-time'),
  withMaximumValue: call('date-time'),
  roundFloorCopy: call('date-time'),
  roundCeilingCopy: call('date-time'),
}

const METHODS: Readonly<Record<PartType, Readonly<Record<string, Call>>>> = {
  'caller id': {},
  'caller groups': {},
  date: {},
  'date-time': DATE_TIME_METHODS,
  field: FIELD_METHODS,
}

const EXPRESSION_SUFFIX = 'Expression'

/** The value that each member with an expression needs. The engine may ignore a condition whose value has another type. */
const MEMBERS: ReadonlyMap<string, ExpressionValue> = new Map([
  ...[
    'assignee',
    'assigneeLike',
    'candidateGroup',
    'candidateUser',
    'involvedUser',
    'owner',
    'processInstanceBusinessKey',
    'processInstanceBusinessKeyLike',
  ].map((name) => [`${name}${EXPRESSION_SUFFIX}`, 'caller id'] as const),
  [`candidateGroups${EXPRESSION_SUFFIX}`, 'caller groups'],
  ...[
    'createdAfter',
    'createdBefore',
    'createdOn',
    'dueAfter',
    'dueBefore',
    'dueDate',
    'followUpAfter',
    'followUpBefore',
    'followUpBeforeOrNotExistent',
    'followUpDate',
    'updatedAfter',
  ].map((name) => [`${name}${EXPRESSION_SUFFIX}`, 'date'] as const),
])

const MAX_CHARS = 300

/** One expression and nothing else. Only spaces may be next to its braces. Each call is read by `CALL`. */
const EXPRESSION = /^[$#]\{ *([A-Za-z]+\([0-9, ]*\)(?:\.[A-Za-z]+\([0-9, ]*\))*) *\}$/

const CALL = /^([A-Za-z]+)\(((?:[0-9]+(?:, ?[0-9]+)*)?)\)$/

/** Without a sign and without leading zeros. */
const WHOLE_NUMBER = /^(?:0|[1-9][0-9]{0,8})$/

/**
 * Returns the value of an expression that consists of known calls only, and null for any other text. The engine runs an expression
 * as code, so whatever is not known here must not reach it.
 */
export function readExpression(text: string): ExpressionValue | null {
  if (text.length > MAX_CHARS) return null
  const [, chain] = EXPRESSION.exec(text) ?? []
  if (chain === undefined) return null
  const [first = '', ...others] = chain.split('.')
  let type = typeOf(first, FUNCTIONS)
  for (const one of others) type = type === null ? null : typeOf(one, METHODS[type])
  if (type === 'date-time') return 'date'
  return type === 'field' ? null : type
}

function typeOf(text: string, known: Readonly<Record<string, Call>>): PartType | null {
  const [, name = '', written = ''] = CALL.exec(text) ?? []
  const called = Object.hasOwn(known, name) ? known[name] : undefined
  if (called === undefined) return null
  const given = written === '' ? [] : written.split(/, ?/)
  const fits =
    given.length === called.ranges.length && called.ranges.every((range, at) => isIn(range, given[at]))
  return fits ? called.gives : null
}

function isIn([smallest, largest]: Range, text = ''): boolean {
  return WHOLE_NUMBER.test(text) && Number(text) >= smallest && Number(text) <= largest
}

/** Returns whether a member of a task query contains an expression. */
export function isExpressionMember(name: string): boolean {
  return name.endsWith(EXPRESSION_SUFFIX)
}

/** Returns whether a member of a task query may contain an expression of the grammar. */
export function isKnownExpression(name: string, text: unknown): boolean {
  const needed = MEMBERS.get(name)
  return needed !== undefined && typeof text === 'string' && readExpression(text) === needed
}

/** The plain member that a member with an expression sets, and the value of the expression for a caller. */
export interface CallerValue {
  readonly plainName: string
  readonly value: string | readonly string[]
}

/**
 * Returns the value of an expression that names the caller. Returns null for a date, for an expression that is not known, and for the
 * groups of a caller without groups: the engine refuses an empty list, and with the expression in the query it does so in its words.
 */
export function callerValueOf(
  name: string,
  text: unknown,
  { userId, groups }: { readonly userId: string; readonly groups: readonly string[] },
): CallerValue | null {
  const needed = MEMBERS.get(name)
  if (needed === undefined || needed === 'date' || !isKnownExpression(name, text)) return null
  const plainName = name.slice(0, -EXPRESSION_SUFFIX.length)
  if (needed === 'caller id') return { plainName, value: userId }
  return groups.length === 0 ? null : { plainName, value: groups }
}
