import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { operationsOf } from '../../../src/operations/compile-table.ts'
import type { OperationEntry, TagOperations } from '../../../src/operations/table.ts'
import { contextOf } from '../../../src/policy/authz/checks/authorize.ts'
import { compilePolicies } from '../../../src/policy/authz/compile-policies.ts'

const compile = (rows: TagOperations) => compilePolicies(operationsOf({ tag: rows }))

/** Mistakes that the types allow, with the error message of each. */
const MISTAKES: readonly (readonly [claim: string, row: OperationEntry, said: RegExp])[] = [
  [
    'a validation rule after a check that the operation does not have',
    row({ body: 'TaskDto', checks: [{ anyOf: ['TASK.CREATE'], denied: 403 }] }),
    /refers to the check "read", which the operation does not have/,
  ],
  [
    'a condition on a member without a name',
    row({ checks: [{ when: 'body: given', anyOf: ['TASK.CREATE'], denied: 403 }] }),
    /unknown condition "body: given"/,
  ],
  [
    'a condition with a second part that is none',
    row({
      checks: [{ when: 'body:a given and body:b, is true', anyOf: ['TASK.CREATE'], denied: 403 }],
    }),
    /unknown condition "body:a given and body:b, is true"/,
  ],
  [
    'a precondition that is none',
    row({ preconditions: [{ when: 'body:a b given', denied: '204' }] }),
    /unknown condition "body:a b given"/,
  ],
  [
    'a member that the lookup does not have',
    row({ checks: [{ anyOf: ['TASK.READ task.procesInstanceId'], denied: 403 }] }),
    /names a member that the lookup task does not have/,
  ],
  [
    'an entity by a parameter that the path does not have',
    row({ loads: 'task(path:taskId)' }),
    /task is looked up by a parameter that the path does not have/,
  ],
  [
    'an entity by a member of nothing',
    row({ checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition(each:id).key'], denied: 403 }] }),
    /processDefinition is looked up by each, which this check does not have/,
  ],
  [
    'a parameter that the path does not have',
    row({ checks: [{ anyOf: ['USER.READ path:userId'], denied: 403 }] }),
    /"USER.READ path:userId" names a parameter that the path does not have/,
  ],
  [
    'members of a set that is not there',
    row({ checks: [{ anyOf: ['USER.READ each.id'], denied: 403 }] }),
    /names each, which this check does not have/,
  ],
  [
    'something else than rows, to restrict them',
    row({ items: { anyOf: ['USER.READ path:id'] } }),
    /"USER.READ path:id" restricts the items of a list, so it cannot name path/,
  ],
  [
    'something else than the path, to offer a link',
    row({ links: { self: 'USER.READ body:id' } }),
    /"USER.READ body:id" names something other than a parameter of the path/,
  ],
  ['a status with a digit too many', row({ notFound: '4040 RestException: gone' }), /does not have the form/],
  ['a status that is no refusal', row({ notFound: '200 RestException: gone' }), /does not have the form/],
  ['a misspelt type', row({ notFound: '404 RestExeption: gone' }), /does not have the form/],
  [
    'a misspelt code',
    row({ checks: [{ denied: 403, notFound: '404 RestException 1: gone' }] }),
    /does not have the form/,
  ],
  [
    'another tenant’s answer without a type',
    row({ crossTenant: '404 : gone' }),
    /"404 : gone" does not have the form/,
  ],
  [
    'an empty answer without a message',
    row({ empty: '400 RestException: ' }),
    /"400 RestException: " does not have the form/,
  ],
  [
    'a placeholder of the body where there is none',
    { route: 'GET /user/:id/novelty', checks: [], notFound: '404 RestException: no {userId}' },
    /unknown placeholder \{userId\}/,
  ],
  [
    'a placeholder of an entity that the row does not look up',
    row({ notFound: '404 RestException: no {incident.incidentType}' }),
    /unknown placeholder \{incident.incidentType\}/,
  ],
  [
    'a placeholder of an entity that has no such member',
    row({ loads: 'incident', notFound: '404 RestException: no {incident.type}' }),
    /unknown placeholder \{incident.type\}/,
  ],
  [
    'a placeholder of a set that is not there',
    row({ crossTenant: "404 RestException: no '{each.id}'" }),
    /unknown placeholder \{each.id\}/,
  ],
  [
    'a placeholder of what is not created yet',
    row({ notFound: '404 RestException: no {created}' }),
    /unknown placeholder \{created\}/,
  ],
  [
    'a list that is no operation',
    row({ selectors: { historicBatchIds: 'queryNovelties(idIn[]).id' } }),
    /queryNovelties is no operation that lists items/,
  ],
  [
    'a list that its selector needs and the table does not have',
    row({ selectors: { jobQuery: 'jobIds' } }),
    /queryJobs is no operation that lists items/,
  ],
  [
    'a check of items that is not an operation on one entity',
    row({ handler: 'added variables' }),
    /getTaskVariables is not an operation on one entity/,
  ],
  [
    'a count that is no operation',
    row({ handler: 'item counts' }),
    /executeFilterCount is no operation of the table/,
  ],
]

function row(columns: Partial<OperationEntry>): OperationEntry {
  return { route: 'POST /user/:id/novelty', checks: [], ...columns }
}

for (const [claim, wrong, said] of MISTAKES)
  t.test(`an operation with ${claim} is refused, and the error names it`, (t) => {
    const [method = '', template = ''] = wrong.route.split(' ')
    t.throws(() => compile({ newcomer: wrong }), {
      message: new RegExp(`^The entry newcomer \\(${method} ${template}\\) of the table has a mistake: `),
    })
    t.throws(() => compile({ newcomer: wrong }), { message: said })
    t.end()
  })

t.test('a misspelt operation is refused by the types and by an error that names it', (t) => {
  for (const [wrong, said] of [
    [
      row({
        // @ts-expect-error no such permission
        checks: [{ anyOf: ['USER.REED path:id'], denied: 403 }],
      }),
      /unknown permission in "USER.REED path:id"/,
    ],
    [
      row({
        // @ts-expect-error no such resource
        checks: [{ anyOf: ['USERS.READ path:id'], denied: 403 }],
      }),
      /unknown resource in "USERS.READ path:id"/,
    ],
    // @ts-expect-error no such lookup
    [row({ checks: [{ anyOf: ['USER.READ usr.id'], denied: 403 }] }), /unknown entity usr/],
    // @ts-expect-error no such entity
    [row({ loads: 'usr' }), /unknown entity usr/],
    [
      row({
        // @ts-expect-error no such condition
        checks: [{ when: 'the user is asleep', denied: 403 }],
      }),
      /unknown condition "the user is asleep"/,
    ],
    // @ts-expect-error no such command
    [row({ checks: [{ when: 'the job runs amok', denied: 403 }] }), /unknown command amok/],
    // @ts-expect-error no number
    [row({ notFound: 'four RestException: gone' }), /"four RestException: gone" does not have the form/],
  ] as const) {
    t.throws(() => compile({ newcomer: wrong }), {
      message: /^The entry newcomer \(POST \/user\/:id\/novelty\) of the table /,
    })
    t.throws(() => compile({ newcomer: wrong }), { message: said })
  }
  t.end()
})

t.test('every operation of the table is compiled', (t) => {
  t.same(
    [...compilePolicies(OPERATIONS).keys()],
    OPERATIONS.map(({ id }) => id),
  )
  t.end()
})

t.test('placeholders are filled from the path and the body', (t) => {
  const rows = { newcomer: row({ empty: "400 RestException 0: '{id}' of {a.b}, {missing}, {flag?on:off}" }) }
  const { empty = null } = compile(rows).get('newcomer')?.checks ?? {}
  const accessRequest = {
    principal: { userId: 'anna', groups: [], tenants: [] },
    params: { id: 'x' },
    query: new Map(),
    body: { id: 'y', a: { b: 1 }, flag: true },
  }
  const refusal = empty?.(contextOf(accessRequest, { impliesIdentity: false }))
  t.match(refusal, {
    statusCode: 400,
    body: { type: 'RestException', message: "'x' of 1, null, on", code: 0 },
  })
  t.end()
})
