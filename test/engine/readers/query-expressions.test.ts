import t from 'tap'
import { readExpression } from '../../../src/policy/validation/query-expressions.ts'
import { makeExpression } from '../../support/query-expressions.ts'
import { javaSkip } from '../../support/requirements.ts'
import type { Family } from '../build.ts'
import { compareReaders } from './compare.ts'
import { answerOf, openEngine } from './open-engine.ts'

/** The engine's words for a value that is null: a bare engine does not know the caller. */
const NULL_VALUE = /^Unable to invoke method/

for (const family of ['camunda-7.24.0', 'operaton'] satisfies Family[])
  t.test(
    `${family} evaluates each known expression to the value that the gateway expects`,
    {
      skip: javaSkip,
    },
    async (t) => {
      const { ask } = await openEngine(t, { family })
      const evaluate = async (name: string, text: string) => {
        const body = JSON.stringify({ orQueries: [{ [name]: text }] })
        const headers = { 'content-type': 'application/json' }
        return answerOf(await ask({ method: 'POST', path: '/task/count', headers, body }))
      }
      await compareReaders(t, {
        what: `expressions at ${family}`,
        inputs: 10_000,
        part: 42,
        maxRefused: 0.75,
        make: (random) => makeExpression(random).text,
        compare: async (text) => {
          const value = readExpression(text)
          // The engine would run it as code.
          if (value === null) return 'refused'
          const isDate = value === 'date'
          const name = isDate
            ? 'dueAfterExpression'
            : value === 'caller id'
              ? 'ownerExpression'
              : 'candidateGroupsExpression'
          const { status, body } = await evaluate(name, text)
          const isExpected = isDate
            ? status === 200
            : status === 500 && NULL_VALUE.test(String(Object(body)['message']))
          return isExpected ? null : { engine: body, gateway: value }
        },
      })
      for (const [text, value] of [
        ["${'mary'}", 200],
        ["${ 'mary'.concat('x') }", 200],
        ['${now()}', 500],
      ] as const)
        t.equal((await evaluate('ownerExpression', text)).status, value, `the engine runs ${text}`)
    },
  )
