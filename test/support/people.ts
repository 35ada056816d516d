import { RESOURCES } from '../../src/operations/permissions.ts'
import type { AuthorizationRecord } from '../../src/operations/authorization-record.ts'

/** Users whose password is their name. bcrypt has its lowest cost, for speed. */
export const USERS = [
  {
    id: 'demo',
    passwordHash: '$2b$04$YYhif5HLVkfH2gRZvI4qCOAidgoV8Ii4hRpCIB4pbVaUD7wN4iZcq',
    groups: ['camunda-admin'],
  },
  {
    id: 'mary',
    passwordHash: '$2b$04$zQuIcZ1fI5oj9mi8mR3TsOxEag8KbIKLJO6azKBohTEwLUuuDQSqe',
    groups: ['clerks'],
    tenants: ['acme'],
  },
  { id: 'nobody', passwordHash: '$2b$04$K5A2am89dA1lHAn/h7d4.eqkAqkyK/VlIM4tYT0n3GWCo3WbDeX..' },
  { id: 'anna', passwordHash: '$2b$04$f8UuIpkdxagoaVehrjRvnuJTi3nMUpAH0/bHoTdoDV0kFXL.tZQaW' },
  { id: 'ben', passwordHash: '$2b$04$QuS.UFyeNk9XVt8zFYXTNeWnawJeas5d8r2hKN9.zY7lnYrHlWNnW' },
]

/** Records of the demo, which let clerks work on reviews. */
export const DEMO_RECORDS = [
  'grant @clerks PROCESS_DEFINITION:review READ,CREATE_INSTANCE,READ_INSTANCE,READ_TASK,TASK_WORK',
  'grant @clerks PROCESS_INSTANCE:* CREATE',
  'grant @clerks DECISION_DEFINITION:* READ',
]

const TYPES: ReadonlyMap<string, AuthorizationRecord['type']> = new Map([
  ['everybody', 0],
  ['grant', 1],
  ['revoke', 2],
])

/** Returns all permissions for the admins and the records of the lines: `grant mary TASK:* READ`, `revoke @clerks …`, `everybody TASK:* READ`. */
export function recordsOf(lines: readonly string[]): readonly AuthorizationRecord[] {
  const admins = Object.keys(RESOURCES).map((resource) => recordOf(`grant @camunda-admin ${resource}:* ALL`))
  return [...admins, ...lines.map(recordOf)]
}

function recordOf(line: string): AuthorizationRecord {
  const [kind = '', ...rest] = line.split(' ')
  const [subject = '', on = '', names = ''] = kind === 'everybody' ? ['*', ...rest] : rest
  const [resource, resourceId] = splitOnce(on)
  const type = TYPES.get(kind)
  const resourceType = Object.entries(RESOURCES).find(([name]) => name === resource)?.[1].id
  if (type === undefined || resourceType === undefined) throw new Error(`no record: ${line}`)
  const who = subject.startsWith('@') ? { groupId: subject.slice(1) } : { userId: subject }
  return { type, ...who, resourceType, resourceId, permissions: names.split(',') }
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(':')
  return [text.slice(0, at), text.slice(at + 1)]
}
