import { readFile } from 'node:fs/promises'
import t from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { decideAny } from '../../src/policy/authz/decision/decide.ts'
import { recordsOf } from '../../src/files/records-file.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'
import { resourceOfType } from '../../src/operations/authorization-record.ts'

const demoFile = new URL('../../config/authorizations.yaml', import.meta.url).pathname

function problemsOf(text: string): readonly string[] {
  try {
    recordsOf(text)
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.problems
    throw cause
  }
  return []
}

const yaml = (...records: string[]) =>
  `authorizations:\n${records.map((record) => `  - { ${record} }\n`).join('')}`
const good = 'type: 1, permissions: [READ], groupId: clerks, resourceType: 7, resourceId: "*"'

t.test('records have the format of POST /authorization/create', async (t) => {
  t.match(recordsOf(yaml(good)), [
    { type: 1, permissions: ['READ'], groupId: 'clerks', userId: null, resourceType: 7, resourceId: '*' },
  ])
})

t.test('the JSON response of GET /authorization is accepted as a records file', async (t) => {
  const answer = [
    {
      id: '14ee',
      type: 0,
      permissions: ['READ', 'UPDATE'],
      userId: '*',
      groupId: null,
      resourceType: 7,
      resourceId: 'x',
      removalTime: null,
      rootProcessInstanceId: null,
    },
    {
      id: '14ef',
      type: 2,
      permissions: ['ALL'],
      userId: 'mary',
      groupId: null,
      resourceType: 6,
      resourceId: '*',
      removalTime: null,
      rootProcessInstanceId: null,
    },
  ]
  t.match(recordsOf(JSON.stringify(answer)), [
    { id: '14ee', type: 0 },
    { id: '14ef', type: 2, userId: 'mary' },
  ])
})

const created = {
  id: '14ee',
  type: 1,
  permissions: ['READ'],
  userId: 'mary',
  groupId: null,
  resourceType: 7,
  resourceId: '*',
  removalTime: null,
  rootProcessInstanceId: null,
  links: [{ method: 'GET', href: 'http://engine/engine-rest/authorization/14ee', rel: 'self' }],
}

t.test('the response of POST /authorization/create is accepted as a records file', async (t) => {
  t.match(recordsOf(JSON.stringify(created)), [{ id: '14ee', userId: 'mary' }])
  t.match(recordsOf(JSON.stringify([created, { ...created, userId: 'john' }])), [{}, { userId: 'john' }])
})

t.test('a response with a member that is not known is refused', async (t) => {
  t.match(problemsOf(JSON.stringify({ ...created, condition: 'x' })), [/condition/])
  t.match(problemsOf(JSON.stringify({ ...created, authorizations: [] })), [/unknown key/])
  t.match(problemsOf(JSON.stringify({ ...created, links: 'x' })), [/links/])
})

t.test('a records file is refused with every problem and its path', async (t) => {
  const cases: readonly (readonly [claim: string, text: string, problems: readonly (string | RegExp)[]])[] = [
    ['a misspelt member', yaml(`${good}, group: x`), [/^authorizations\[0\]: .*group/]],
    [
      'a missing member',
      yaml('type: 1, permissions: [], userId: a, resourceType: 7'),
      [/^authorizations\[0\]\.resourceId: /],
    ],
    ['an unknown type', yaml(good.replace('type: 1', 'type: 3')), [/^authorizations\[0\]\.type: /]],
    [
      'a number for an id',
      yaml(good.replace('"*"', '17')),
      [/^authorizations\[0\]\.resourceId: text is needed$/],
    ],
    [
      'an unknown resource type',
      yaml(good.replace('resourceType: 7', 'resourceType: 22')),
      [/^authorizations\[0\]: resourceType 22 is not a resource type/],
    ],
    [
      'a permission of another resource',
      yaml(good.replace('READ', 'CREATE_INSTANCE')),
      [
        /^authorizations\[0\]: 'CREATE_INSTANCE' is not a permission of TASK \(7\), which has READ, .* and ALL$/,
      ],
    ],
    [
      'both user and group',
      yaml(`${good}, userId: mary`),
      ['authorizations[0]: needs exactly one of userId and groupId'],
    ],
    [
      'neither user nor group',
      yaml(good.replace('groupId: clerks', 'groupId: null')),
      ['authorizations[0]: needs exactly one of userId and groupId'],
    ],
    [
      'a GLOBAL record for a group',
      yaml(good.replace('type: 1', 'type: 0')),
      [/^authorizations\[0\]: a GLOBAL record .* must not have a groupId/],
    ],
    [
      'a GLOBAL record for a user',
      yaml(good.replace('type: 1', 'type: 0').replace('groupId: clerks', 'userId: mary')),
      [/^authorizations\[0\]: a GLOBAL record .* userId/],
    ],
    [
      'the same record twice',
      yaml(good, good.replace('READ', 'UPDATE')),
      ['authorizations[1]: has the same type, subject and resource as authorizations[0]'],
    ],
    [
      'two GLOBAL records for one thing',
      yaml(
        ...['userId: "*"', 'permissions: []'].map(
          (who) =>
            `type: 0, ${who === 'permissions: []' ? who : `permissions: [READ], ${who}`}, resourceType: 7, resourceId: x`,
        ),
      ),
      [/^authorizations\[1\]: has the same/],
    ],
    [
      'several at once',
      yaml(good.replace('READ', 'FLY'), good.replace('resourceType: 7', 'resourceType: 99')),
      [/\[0\]: 'FLY'/, /\[1\]: resourceType 99/],
    ],
    [
      'a JSON array',
      '[{"type": 1}]',
      [/^\[0\]\.permissions: /, /^\[0\]\.resourceType: /, /^\[0\]\.resourceId: /],
    ],
    ['broken YAML', 'authorizations: [', [/^line 1, column \d+: /]],
    ['a member twice', 'authorizations: []\nauthorizations: []', [/^line 2, column 1: /]],
    ['an empty file', '', [/^\(top level\): /]],
  ]
  for (const [claim, text, problems] of cases) {
    const found = problemsOf(text)
    t.equal(found.length, problems.length, `${claim}: ${found.join(' | ')}`)
    for (const [at, problem] of problems.entries()) t.match(found[at], problem, claim)
  }
})

t.test('an error contains the name of the records file', async (t) => {
  t.throws(() => recordsOf('x: 1', '/etc/gw/authorizations.yaml'), {
    message: /^\/etc\/gw\/authorizations\.yaml /,
  })
})

t.test('the records of the demo grant everything to admins and reviews to clerks', async (t) => {
  const records = indexRecords(recordsOf(await readFile(demoFile, 'utf8'), demoFile))
  const admin = { userId: 'demo', groups: ['camunda-admin'], tenants: [] }
  const mary = { userId: 'mary', groups: ['clerks'], tenants: ['acme'] }
  for (let type = 0; type <= 21; type += 1) {
    const resource = resourceOfType(type)
    if (resource === null) continue
    for (const permission of Object.keys(RESOURCES[resource].permissions)) {
      if (!decideAny(records, admin, [{ resource, permission, id: null }]))
        t.fail(`admin lacks ${resource}.${permission}`)
    }
  }
  const may = (resource: keyof typeof RESOURCES, permission: string, id: string | null) =>
    decideAny(records, mary, [{ resource, permission, id }])
  t.equal(may('PROCESS_DEFINITION', 'CREATE_INSTANCE', 'review'), true, 'mary may start a review')
  t.equal(may('PROCESS_INSTANCE', 'CREATE', null), true, 'and create an instance, which starting needs too')
  t.equal(may('PROCESS_DEFINITION', 'READ_TASK', 'review'), true, 'and see its tasks')
  t.equal(may('PROCESS_DEFINITION', 'READ', 'moving'), false, 'but no other process')
  t.equal(may('DECISION_DEFINITION', 'READ', 'discount'), true, 'mary may read decisions')
  t.equal(may('DECISION_DEFINITION', 'CREATE_INSTANCE', 'discount'), false, 'but not evaluate them')
  t.notMatch(await readFile(demoFile, 'utf8'), /type: 2/, 'nothing is revoked: the demo stays easy to read')
})
