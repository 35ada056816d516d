import { answer, bodies, type Case, invalid } from './case.ts'

const JAVA: Readonly<Record<string, string>> = {
  Boolean: 'java.lang.Boolean',
  Bytes: '[B',
  Date: 'java.util.Date',
  Double: 'java.lang.Double',
  Integer: 'java.lang.Integer',
  Long: 'java.lang.Long',
  Null: 'javax.lang.model.type.NullType',
  Number: 'java.lang.Number',
  Short: 'java.lang.Short',
}

/** Values that a type accepts, and values that it refuses, with the text in the engine's message. */
const VALUES: Readonly<
  Record<string, readonly [taken: readonly unknown[], refused: readonly (readonly [unknown, string?])[]]>
> = {
  Boolean: [
    [true, 'true', 'TRUE', 'False', '', ' ', 'null', null],
    [['abc'], [1, '1'], [1.5, '1.5'], ['1'], [[], '[]'], ['tRUE']],
  ],
  Bytes: [
    ['YQ==', '', 'null', true, 1234, 'YQ== ', ' YQ==', 'YQ==YQ==', '\b', '\u0000YQ=='],
    [['%%%'], [5, '5'], ['a'], ['YQ'], ['a_bc'], ['YQ==\u00a0'], [[], '[]']],
  ],
  Date: [
    ['2020-01-01T00:00:00.000+0000', '', 'null', ' 2020-1-1T0:0:0.0UTC'],
    [['2020-01-01'], [5, '5'], [true, 'true'], [1_577_836_800_000, '1577836800000']],
  ],
  Double: [
    [1, 1.5, '1.5', '1e3', '', 'NaN', '-INF', '.5', '5.', ' 1.5 ', '+5'],
    [['abc'], [true, 'true'], ['1,5'], ['0x1p3'], ['1d'], ['.'], ['٣']],
  ],
  Integer: [
    [1, '5', '', 'null', ' 5 ', '5" x', String.raw`\u0035`],
    [
      [2_147_483_648, '2147483648'],
      ['5.0'],
      [5.5, '5.5'],
      ['abc'],
      [{ a: 1, b: [1, null, 'x', true] }, '{a=1, b=[1, null, x, true]}'],
    ],
  ],
  Long: [
    [1, 9_007_199_254_740_992, '5', ''],
    [['9223372036854775808'], [5.5, '5.5'], ['abc']],
  ],
  Null: [[null], [[5, '5'], ['x'], ['null']]],
  Number: [
    [5, 1.5, '5', '1.5', 'NaN', '', '1e5'],
    [['x'], ['0x1'], [true, 'true'], [[], '[]']],
  ],
  Short: [
    [1, 32_767, '5', ''],
    [[32_768, '32768'], ['5.5'], ['-32769']],
  ],
  String: [['a', 5, true, 1.5, [], {}, 'a"b', ['a"b'], 1e20], []],
}

const fault = (message: string) => answer(500, 'IllegalArgumentException', message, null)
const unsupported = (type: string) => answer(400, 'RestException', `Unsupported value type '${type}'`, null)
const NOT_TEXT = "Must provide 'null' or String value for value of SerializableValue type 'Object'."
const TRANSIENT = "The property 'transient' should have a value of type 'boolean'."

type Rows = Parameters<typeof bodies>[1]

const TYPED: Rows = Object.entries(VALUES).flatMap(
  ([type, [taken, refused]]): Rows => [
    ...taken.map((value) => [{ type, value }, 204] as const),
    ...refused.map(([value, text]) => {
      const message = `Cannot convert value '${text ?? String(value)}' of type '${type}' to java type ${JAVA[type]}`
      return [{ type, value }, invalid(message)] as const
    }),
  ],
)

const OTHERS: Rows = [
  [{}, 204],
  [{ value: { a: [1] } }, 204],
  [{ value: 1, valueInfo: { transient: 'yes' } }, 204],
  [{ type: null, value: 1, valueInfo: null, unknown: 1 }, 204],
  [{ type: 'boolean', value: true }, 204],
  [{ type: 'STRING', value: 'x' }, unsupported('STRING')],
  [{ type: 'Foo' }, unsupported('Foo')],
  [{ type: true }, unsupported('true')],
  [{ type: 5 }, 400],
  [{ type: '' }, 500],
  // Accepted if the engine has its Spin plugin.
  [{ type: 'Json', value: '{}' }, 400],
  [null, 500],
  [5, 'unmapped'],
  [{ type: [] }, 'unmapped'],
  [{ valueInfo: 5 }, 'unmapped'],
  [
    { type: 'Boolean', value: true, valueInfo: { transient: 'yes' } },
    invalid("Cannot convert value 'true' of type 'Boolean' to java type java.lang.Boolean"),
  ],
  [{ type: 'Object', value: '{}' }, 204],
  [{ type: 'Object', value: 5 }, invalid(NOT_TEXT)],
  [{ type: 'Object', value: '{}', valueInfo: { transient: 'yes' } }, fault(TRANSIENT)],
  [{ type: 'Object', value: '{}', valueInfo: { objectTypeName: 5 } }, 500],
  [{ type: 'File' }, fault('Cannot create file without valueInfo.')],
  [
    { type: 'File', valueInfo: {} },
    fault('Cannot create file without filename! Please set a name into ValueInfo with key filename'),
  ],
  [
    { type: 'File', valueInfo: { filename: 'a' } },
    fault('Provided value is not of File, InputStream or byte[] type.'),
  ],
  [{ type: 'File', value: '%', valueInfo: { filename: 5, mimeType: 'x' } }, 204],
  [
    { type: 'File', value: '', valueInfo: { filename: 'a', mimeType: null } },
    fault("The provided mime type is null. Set a non-null value info property with key 'filename'"),
  ],
]

const inMap = (rows: Rows): Rows =>
  rows.map(([value, engine]) => [{ name: 'nosuch', variables: { v: value } }, engine])
const wrong = { type: 'Integer', value: 'x' }
const object = (valueInfo: object) => ({ type: 'Object', value: '{}', valueInfo })
const WRONG = "Cannot convert value 'x' of type 'Integer' to java type java.lang.Integer"

const MESSAGE_VARIABLES = [
  'correlationKeys',
  'localCorrelationKeys',
  'processVariables',
  'processVariablesLocal',
  'processVariablesToTriggeredScope',
]

export const variableCases: readonly Case[] = [
  ...bodies('throwSignal', inMap([...TYPED, ...OTHERS])),
  ...bodies('throwSignal', [
    [{}, invalid('No signal name given')],
    [{ name: null, variables: { v: wrong } }, invalid('No signal name given')],
    [{ name: '' }, 204],
    [{ name: 'nosuch', variables: null, withoutTenantId: null }, 204],
    [{ name: 'nosuch', variables: [] }, 'unmapped'],
    [{ name: 'nosuch', tenantId: 'a', withoutTenantId: true }, 204],
    [{ name: 'nosuch', executionId: 'nosuch', withoutTenantId: false }, 500],
    ...[{ tenantId: '' }, { withoutTenantId: true }].map(
      (tenant) =>
        [
          { name: 'nosuch', executionId: 'nosuch', ...tenant },
          answer(
            400,
            'BadUserRequestException',
            'ENGINE-13027 Cannot specify a tenant-id when deliver a signal to a single execution.',
          ),
        ] as const,
    ),
  ]),
  ...bodies('throwSignal', [
    // The engine reports the error of the first variable.
    [{ name: 'nosuch', variables: { a: object({ objectTypeName: 5 }), b: wrong } }, 500],
    [{ name: 'nosuch', variables: { a: object({ serializationDataFormat: 5 }), b: wrong } }, 500],
    [
      { name: 'nosuch', variables: { a: object({ objectTypeName: 'java.lang.String' }), b: wrong } },
      invalid(WRONG),
    ],
    [{ name: 'nosuch', variables: { a: object({ objectTypeName: null }), b: wrong } }, invalid(WRONG)],
  ]),
  ...bodies('deliverMessage', [
    [{}, invalid('No message name supplied')],
    [{ messageName: null, tenantId: 'a', withoutTenantId: true }, invalid('No message name supplied')],
    [
      { messageName: 'x', tenantId: '', withoutTenantId: true, variablesInResultEnabled: true },
      invalid("Parameter 'tenantId' cannot be used together with parameter 'withoutTenantId'."),
    ],
    [
      { messageName: 'x', variablesInResultEnabled: true, processVariables: { v: wrong } },
      invalid("Parameter 'variablesInResultEnabled' cannot be used without 'resultEnabled' set to true."),
    ],
    [{ messageName: 'x', variablesInResultEnabled: true, resultEnabled: true }, 400],
    ...MESSAGE_VARIABLES.map(
      (name) =>
        [
          { messageName: 'x', processInstanceId: 'p', tenantId: 'a', [name]: { v: wrong } },
          invalid(`Cannot deliver message: ${WRONG}`),
        ] as const,
    ),
    [
      {
        messageName: 'x',
        processVariables: { v: { type: 'Second' } },
        localCorrelationKeys: { v: { type: 'First' } },
      },
      invalid("Cannot deliver message: Unsupported value type 'First'"),
    ],
    [{ messageName: 'x', correlationKeys: { v: null }, processVariables: { v: wrong } }, 500],
    ...[{ tenantId: '' }, { withoutTenantId: true }].map(
      (tenant) =>
        [
          { messageName: '', processInstanceId: 'nosuch', ...tenant },
          answer(
            400,
            'BadUserRequestException',
            'ENGINE-13028 Cannot specify a tenant-id when correlate a message to a single process instance.',
          ),
        ] as const,
    ),
  ]),
  ...bodies(
    'signalExecution',
    [
      [{ variables: [] }, 'unmapped'],
      [{ variables: { v: [] } }, 'unmapped'],
      [{ variables: { v: wrong } }, invalid(`Cannot signal execution nosuch: ${WRONG}`)],
      [
        { variables: { v: { type: 'Foo' } } },
        invalid("Cannot signal execution nosuch: Unsupported value type 'Foo'"),
      ],
      [{ variables: { v: { type: 'File' } } }, fault('Cannot create file without valueInfo.')],
      [{ variables: null }, 500],
    ],
    { id: 'nosuch' },
  ),
  ...bodies(
    'evaluateDecisionById',
    [
      [{ variables: { v: { type: 'Foo' } } }, unsupported('Foo')],
      [{ variables: { v: wrong } }, invalid(WRONG)],
      [{}, 200],
      [{ variables: { sum: { value: 1, type: 'Integer' } } }, 200],
    ],
    { id: '{decisionDefinitionId}' },
  ),
  ...bodies(
    'setProcessInstanceVariable',
    [
      [wrong, invalid(`Cannot put process instance variable v: ${WRONG}`)],
      [{ type: 'Foo' }, invalid("Cannot put process instance variable v: Unsupported value type 'Foo'")],
      [{ type: 'Object', value: 5 }, invalid(`Cannot put process instance variable v: ${NOT_TEXT}`)],
      [{ type: 'File' }, fault('Cannot create file without valueInfo.')],
      [[], 'unmapped'],
      [{ value: 'x', type: 'String' }, 204],
      [{}, 204],
    ],
    { id: '{reviewInstanceId}', varName: 'v' },
  ),
]
