import t from 'tap'
import {
  decide,
  locate,
  NOT_ENFORCED,
  receive,
  type RequestContext,
  locatedOf,
} from '../../src/pipeline/context.ts'
import { decideAgain, isStillDecided } from '../../src/pipeline/decide-again.ts'
import { readRequest } from '../../src/pipeline/read-request.ts'
import { ANONYMOUS } from '../../src/request/principal.ts'

t.test(
  'while a request is decided again, and if that fails, its former decision does not count',
  async (t) => {
    const context: RequestContext = receive('id', '')
    const request = { context, url: '/x', params: {}, headers: {}, raw: { socket: { destroyed: false } } }
    const items = { topics: 1, correlationKeys: 1, conditions: 1, orQueries: 1, sorting: 1, ids: 1 }
    const members = { config: { timeouts: { headers: 1000 }, listen: {}, limits: { items } } }
    const engine = {
      recordsVersion: () => 7,
      authenticator: { isCurrent: () => true, isRecent: () => true },
    }
    const location = { engine, operation: { media: 'none' }, permit: {}, principal: ANONYMOUS }
    type Arguments = Parameters<typeof decideAgain>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a decision reads only these members
    const asked = request as unknown as Arguments[2]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a decision reads only these members
    const dependencies = members as unknown as Arguments[0]['dependencies']
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a decision reads only these members
    locate(context, location as unknown as Parameters<typeof locate>[1])
    const checked = readRequest(dependencies, context, asked)
    decide(checked, 7, NOT_ENFORCED)
    t.equal(isStillDecided(context), true, 'decided')

    const during: boolean[] = []
    const decideAsTold = (fails: boolean): Arguments[0] => ({
      dependencies,
      decide: (_dependencies, again) => {
        during.push(isStillDecided(again))
        if (fails) throw new Error('no decision')
        decide(again, 7, NOT_ENFORCED)
        return again
      },
    })
    await t.rejects(decideAgain(decideAsTold(true), locatedOf(asked), asked), /no decision/)
    t.equal(isStillDecided(locatedOf(asked)), false, 'after a failure')
    await decideAgain(decideAsTold(false), locatedOf(asked), asked)
    t.equal(isStillDecided(locatedOf(asked)), true, 'decided again')
    t.same(during, [false, false])
  },
)
