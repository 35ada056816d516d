import t from 'tap'
import type { EngineRefusal } from '../../../../src/errors.ts'
import {
  adminExceptionOf,
  adminOrPermissionExceptionOf,
  authorizationExceptionOf,
} from '../../../../src/policy/authz/checks/authorization-exception.ts'

// The bytes of responses of a running engine 7.22.0, with shortened ids.
const RECORDED: readonly (readonly [claim: string, decision: EngineRefusal, text: string])[] = [
  [
    'one permission asked without an id',
    authorizationExceptionOf('peter', [{ permission: 'CREATE', resource: 'Authorization', id: null }]),
    `{"type":"AuthorizationException","message":"The user with id 'peter' does not have 'CREATE' permission on resource 'Authorization'.","code":0,"userId":"peter","resourceName":"Authorization","resourceId":null,"permissionName":"CREATE","missingAuthorizations":[{"permissionName":"CREATE","resourceName":"Authorization","resourceId":null}]}`,
  ],
  [
    'one permission on everything',
    authorizationExceptionOf('peter', [{ permission: 'READ', resource: 'Task', id: '*' }]),
    `{"type":"AuthorizationException","message":"The user with id 'peter' does not have 'READ' permission on resource '*' of type 'Task'.","code":0,"userId":"peter","resourceName":"Task","resourceId":"*","permissionName":"READ","missingAuthorizations":[{"permissionName":"READ","resourceName":"Task","resourceId":"*"}]}`,
  ],
  [
    'one permission on an id',
    authorizationExceptionOf('peter', [
      { permission: 'CREATE_INSTANCE', resource: 'DecisionDefinition', id: 'discount' },
    ]),
    `{"type":"AuthorizationException","message":"The user with id 'peter' does not have 'CREATE_INSTANCE' permission on resource 'discount' of type 'DecisionDefinition'.","code":0,"userId":"peter","resourceName":"DecisionDefinition","resourceId":"discount","permissionName":"CREATE_INSTANCE","missingAuthorizations":[{"permissionName":"CREATE_INSTANCE","resourceName":"DecisionDefinition","resourceId":"discount"}]}`,
  ],
  [
    'one of several',
    authorizationExceptionOf('peter', [
      { permission: 'UPDATE', resource: 'ProcessInstance', id: '379f' },
      { permission: 'UPDATE_INSTANCE', resource: 'ProcessDefinition', id: 'events' },
    ]),
    `{"type":"AuthorizationException","message":"The user with id 'peter' does not have one of the following permissions: 'UPDATE' permission on resource '379f' of type 'ProcessInstance' or 'UPDATE_INSTANCE' permission on resource 'events' of type 'ProcessDefinition'","code":0,"userId":"peter","resourceName":null,"resourceId":null,"permissionName":null,"missingAuthorizations":[{"permissionName":"UPDATE","resourceName":"ProcessInstance","resourceId":"379f"},{"permissionName":"UPDATE_INSTANCE","resourceName":"ProcessDefinition","resourceId":"events"}]}`,
  ],
  [
    'admins only',
    adminExceptionOf(),
    `{"type":"AuthorizationException","message":"ENGINE-03029 Required admin authenticated group or user.","code":0,"userId":null,"resourceName":null,"resourceId":null,"permissionName":null,"missingAuthorizations":[]}`,
  ],
  [
    'admins or a permission',
    adminOrPermissionExceptionOf([{ permission: 'READ', resource: 'System', id: null }]),
    `{"type":"AuthorizationException","message":"ENGINE-03110 Required admin authenticated group or user or any of the following permissions: 'READ' permission on resource 'System'.","code":0,"userId":null,"resourceName":null,"resourceId":null,"permissionName":null,"missingAuthorizations":[]}`,
  ],
]

for (const [claim, decision, text] of RECORDED) {
  t.test(`the body equals the engine’s byte for byte: ${claim}`, async (t) => {
    t.equal(JSON.stringify(decision.body), text)
    t.match(decision, { statusCode: 403, headers: { 'content-type': 'application/json' } })
  })
}

t.test('the reason for logs names the permissions without ids', async (t) => {
  t.match(adminExceptionOf().reason, 'only an administrator is permitted')
  const missing = [
    { permission: 'READ', resource: 'Task', id: 'secret' },
    { permission: 'READ_TASK', resource: 'ProcessDefinition', id: 'other' },
  ]
  t.equal(
    authorizationExceptionOf('peter', missing).reason,
    'the caller lacks READ on Task or READ_TASK on ProcessDefinition',
  )
})
