import type { Case } from './case.ts'
import { bodies } from './case.ts'

/** One member for each Java type of the engine's bodies, in an operation that can be called without effect. */
const MEMBERS: Readonly<Record<string, readonly [operation: string, member: string]>> = {
  Integer: ['queryTasksCount', 'priority'],
  Long: ['queryHistoricExternalTaskLogs', 'priorityHigherThanOrEquals'],
  Boolean: ['queryTasksCount', 'assigned'],
  String: ['queryTasksCount', 'name'],
  Date: ['queryTasksCount', 'createdAfter'],
  List: ['queryTasksCount', 'processInstanceIdIn'],
  Objects: ['queryTasksCount', 'processVariables'],
}

const NOT_SCALAR = ['[]', '[5]', '[null]', '{}', '{"a":1}']
const dated = (...ends: string[]): string[] => ends.map((end) => `"2020-01-01T00:00:00.000${end}"`)

const INTEGERS = [
  'null',
  '"5"',
  '-5',
  '5.0',
  '1.5',
  '1e3',
  '1e-3',
  '2147483647',
  '-2147483648',
  '""',
  '" "',
  '" 5 "',
]
const BOOLEANS = [
  'null',
  'true',
  '0',
  '2',
  '-5',
  '9223372036854775808',
  '""',
  '" "',
  '"TRUE"',
  '"False"',
  '" true "',
]
const DATES = dated(
  '+0000',
  '+0000 and more',
  'UTC',
  ' GMT',
  'GMT+01:00',
  'PST',
  'cet',
  '  +0000',
  '+00000000',
)
const ODD_DATES = [
  'null',
  '0',
  '-5',
  '1577836800000',
  '""',
  '" "',
  '"null"',
  '" 2020-13-45T99:99:99.9+2359"',
  '"20-1-1T0:0:0.0-0500"',
  '"2020- 1--1T00:00:00.000+0000"',
  '"٢٠٢٠-01-01T00:00:00.000+0000"',
  '"NaN-∞-01T00:00:00.0+0000"',
  '"2E3-1E-1-1T00:00:00.0+0000"',
  String.raw`"\u00002020-01-01T00:00:00.000+0000"`,
]
const NO_DATES = [
  '1.5',
  'true',
  '"5"',
  '"yesterday"',
  '"2020-01-01"',
  '"2020-01-01T00:00:00"',
  '"2020-01-01T00:00:00Z"',
  '"2020-01-01 00:00:00.000+0000"',
  '"2020-01-01T00:00:00,000+0000"',
  '"+2020-01-01T00:00:00.000+0000"',
  '"2e3-01-01T00:00:00.000+0000"',
  '"202𝟎-01-01T00:00:00.000+0000"',
  '"2020-\u00a001-01T00:00:00.000+0000"',
  '"2020-01-01T00:00:00.000\u00a0+0000"',
  ...dated('', 'Z', '+00:00', '+00', '+2400', '+0060', '-', ' 0000', '+٠٠٠٠'),
  ...NOT_SCALAR,
]

/** JSON texts that the engine's reader accepts for a type, and those that it refuses. */
const COERCIONS: Readonly<Record<string, readonly [taken: readonly string[], refused: readonly string[]]>> = {
  Integer: [
    [...INTEGERS, '"+5"', '"null"', '"٣"', '"٣5"', '"5٣"'],
    [
      '2147483648',
      '-2147483649',
      '"𝟏"',
      '2147483647.5',
      '1e400',
      'true',
      '"5.0"',
      '"0x10"',
      '"abc"',
      '"true"',
      ...NOT_SCALAR,
    ],
  ],
  Long: [
    ['null', '2147483648', '9223372036854775807', '"9223372036854775807"', '1.5', '""'],
    ['"9223372036854775808"', 'true', '"5.0"', ...NOT_SCALAR],
  ],
  Boolean: [
    [...BOOLEANS, '"True"', '"null"'],
    ['1.5', '"tRUE"', '"1"', '"yes"', ...NOT_SCALAR],
  ],
  String: [['null', '"x"', '5', '1e400', 'true', '""', String.raw`"\ud800"`], NOT_SCALAR],
  Date: [[...DATES, ...ODD_DATES], NO_DATES],
  List: [
    ['null', '[]', '[5]', '["5",true,null]'],
    ['"5"', '5', '""', '{}', '[[]]', '[{}]'],
  ],
  Objects: [
    ['null', '[]', '[{"name":"a","operator":"eq"}]'],
    ['""', '5', '{}', '[5]', '[""]', '[[]]'],
  ],
}

export const coercionCases: readonly Case[] = Object.entries(COERCIONS).flatMap(
  ([type, [taken, refused]]) => {
    const [operation, member] = MEMBERS[type] ?? ['', '']
    const sent = (json: string): string => `{"${member}":${json}}`
    return [
      ...bodies(
        operation,
        taken.map((json) => [sent(json), 200] as const),
      ),
      ...bodies(
        operation,
        refused.map((json) => [sent(json), 'unmapped'] as const),
      ),
    ]
  },
)
