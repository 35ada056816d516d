import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const task = (id: string, more: object) => ({ id, processInstanceId: 'i', ...more })
const ANSWERS: Readonly<Record<string, readonly [status: number, body: object]>> = {
  '/task/others': [200, task('others', { processDefinitionId: 'd', tenantId: 'globex' })],
  '/task/homeless': [200, task('homeless', { processDefinitionId: 'gone', tenantId: null })],
  '/task/odd': [400, { type: 'InvalidRequestException', message: 'odd', code: null }],
  '/process-definition/d': [200, { id: 'd', key: 'review', tenantId: 'globex' }],
}
const NOT_FOUND: (typeof ANSWERS)[string] = [404, { type: 'RestException', message: 'none', code: null }]

const { ask, log } = await openGateway(t, {
  records: ['grant mary PROCESS_DEFINITION:review READ_TASK'],
  engine({ url }, response) {
    const [status, body] = ANSWERS[url.slice(BASE.length)] ?? NOT_FOUND
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  },
})

for (const [id, reason] of [
  ['others', "another tenant's"],
  ['nosuch', 'not found by the look-up'],
  ['odd', 'not found by the look-up'],
  ['homeless', 'its process definition is gone'],
] as const)
  t.test(
    `a hidden task gets the same 404 for every reason, and only audit and log name it for ${id}: ${reason}`,
    async (t) => {
      const before = log.length
      const message = `No matching task with id ${id}`
      t.match(await ask('mary', `GET /task/${id}`), { status: 404, body: { message } })
      await new Promise(setImmediate)
      const lines = log.slice(before)
      const audit = lines.find(({ stream }) => stream === 'audit')
      t.match(audit, { decision: 'refused', stage: 'permit', rule: reason, status: 404 })
      t.equal(audit?.['missing'], undefined)
      t.ok(
        lines.some((line) => line['stream'] !== 'audit' && line['error'] === reason),
        JSON.stringify(lines),
      )
    },
  )
