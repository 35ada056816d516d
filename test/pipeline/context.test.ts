import t from 'tap'
import {
  decide,
  forgetDecision,
  isChecked,
  isDecided,
  isLocated,
  locate,
  NOT_ENFORCED,
  receive,
  releaseRequest,
  type RequestContext,
  setRequest,
  checkedOf,
  decidedOf,
  locatedOf,
} from '../../src/pipeline/context.ts'
import { refusalOf } from '../../src/pipeline/replies.ts'
import { ANONYMOUS } from '../../src/request/principal.ts'

const located = { principal: ANONYMOUS, engine: {}, operation: {}, permit: {} }
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the transitions only store these members
const LOCATION = located as unknown as Parameters<typeof locate>[1]
const READ = {
  accessRequest: { principal: ANONYMOUS, params: {}, query: new Map(), body: 1 },
  bytes: null,
  search: '',
}

const REFUSED = /^A stage was left out: the request is only /

function statesOf(context: RequestContext): readonly boolean[] {
  return [isLocated(context), isChecked(context), isDecided(context)]
}

t.test('a context has the members of a state only after the transition to it', (t) => {
  const context: RequestContext = receive('id', '')
  t.same(statesOf(context), [false, false, false], 'received')
  locate(context, LOCATION)
  t.same(statesOf(context), [true, false, false], 'located')
  setRequest(context, READ)
  t.same(statesOf(context), [true, true, false], 'checked')
  decide(context, 7, NOT_ENFORCED)
  t.same(statesOf(context), [true, true, true], 'decided')
  releaseRequest(context)
  t.same(statesOf(context), [true, false, false], 'without the parsed request')
  t.equal(context.recordsVersion, 7, 'the decision of a released request remains')
  forgetDecision(context)
  t.not(context.recordsVersion, 7, 'nothing is sent because of a decision that is made again')
  t.end()
})

t.test('a request for which a stage was left out is refused', (t) => {
  const context: RequestContext = receive('id', '')
  const request = { context }
  for (const contextOf of [locatedOf, checkedOf, decidedOf])
    t.throws(() => contextOf(request), REFUSED, 'received')
  locate(context, LOCATION)
  t.equal(locatedOf(request), context)
  for (const contextOf of [checkedOf, decidedOf]) t.throws(() => contextOf(request), REFUSED, 'located')
  setRequest(context, READ)
  t.equal(checkedOf(request), context)
  t.throws(() => decidedOf(request), REFUSED, 'checked')
  decide(context, 7, NOT_ENFORCED)
  t.equal(decidedOf(request), context)
  t.end()
})

t.test('a context has all members from the start, so that all instances have one hidden class', (t) => {
  const context: RequestContext = receive('id', '')
  const members = Object.keys(context)
  locate(context, LOCATION)
  setRequest(context, READ)
  decide(context, 7, NOT_ENFORCED)
  t.same(Object.keys(context), members)
  t.end()
})

t.test('the client of a request for which a stage was left out gets 500', (t) => {
  const request = { context: receive('id', '') }
  try {
    decidedOf(request)
    t.fail('the request was accepted')
  } catch (error) {
    t.match(refusalOf(error), { code: 'GW_INTERNAL', statusCode: 500 })
  }
  t.end()
})
