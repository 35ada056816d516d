import t, { type Test } from 'tap'
import { openGateway } from '../support/open-gateway.ts'
import { head, speak } from '../support/raw.ts'
import type { Attack } from './attack.ts'
import { ATTACKS } from './corpus.ts'

const gateway = await openGateway(t, { listen: true, records: [] })
const { engine, origin, dependencies } = gateway

for (const attack of ATTACKS) {
  t.test(`a ${attack.kind} attack is refused: ${attack.hope}`, async (t) => {
    const before = { requests: engine.requests, cached: dependencies.cache.size.entries }
    const answers = await speak(origin, attack.bytes)
    t.equal(answers.length, 1, 'one request is one answer')
    checkAnswer(t, attack, answers[0])
    t.same(
      { requests: engine.requests, cached: dependencies.cache.size.entries },
      before,
      'the engine saw nothing, nothing is cached',
    )
  })
}

function checkAnswer(
  t: Test,
  attack: Attack,
  answer: Awaited<ReturnType<typeof speak>>[number] | undefined,
): void {
  t.equal(answer?.status, attack.status)
  t.equal(answer?.headers['x-gateway-error'] ?? null, attack.code)
  if (answer === undefined) return
  if (answer.status === 401) t.same([answer.body, answer.headers['content-length']], ['', '0'])
  else t.match(JSON.parse(answer.body), { type: /^\w+Exception$/, message: /\S/, code: null })
  // The body contains no details of the implementation, and no part of the request.
  t.notMatch(answer.body, /node_modules|\.ts:|undefined|evil|passwd/)
}

t.test('after all attacks, other clients are served as before', async (t) => {
  t.equal(({} as Record<string, unknown>)['admin'], undefined)
  t.match(await speak(origin, head('GET /engine-rest/version')), [{ status: 200 }])
  t.equal(engine.seen.at(-1)?.url, '/engine-rest/version')
})

t.test('the log contains no credentials, and no line that an attacker has made', (t) => {
  const text = gateway.log.map((line) => JSON.stringify(line)).join('\n')
  t.notMatch(text, /ZGVtbzpkZW1v|bWFyeTptYXJ5/)
  t.ok(gateway.log.every((line) => typeof line['level'] === 'string'))
  const refused = gateway.log.filter(({ status }) => status === 401)
  t.ok(refused.some(({ attemptedUser }) => String(attemptedUser).includes('"user"')))
  t.ok(refused.every(({ user }) => user === undefined))
  t.end()
})

t.test('all attacks together create few metric labels', async (t) => {
  const lines = (await dependencies.metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('gateway_refusals_total'))
  t.ok(lines.length < 40, `${lines.length}`)
  t.notMatch(lines.join('\n'), /evil|passwd|mary/)
})
