import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const profile = (id: string) => ({ id, firstName: 'Mary', lastName: 'M', email: null })

t.test(
  'callers whom the engine does not know get their own profile, and no profile of other unknown users',
  async (t) => {
    const { ask } = await openGateway(t, {
      records: ['grant @clerks USER:* READ'],
      engine: ({ url }, response) => {
        const [, id = ''] = /\/user\/([^/]+)\/profile$/.exec(url) ?? []
        const isKnown = id === 'anna'
        const body = isKnown ? profile(id) : { type: 'InvalidRequestException', message: 'none', code: null }
        response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
        response.end(url.includes('/profile') ? JSON.stringify(body) : '[]')
      },
    })
    const own = await ask('mary', 'GET /user/mary/profile')
    t.match(own, {
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' },
    })
    t.same(own.body, { id: 'mary', firstName: null, lastName: null, email: null })
    t.match(await ask('mary', 'GET /user/ben/profile'), { status: 404 })
    t.same((await ask('mary', 'GET /user/anna/profile')).body, profile('anna'), 'whom it knows')
    t.same((await ask('anna', 'GET /user/anna/profile')).body, profile('anna'), 'also to himself')
    t.match(await ask(null, 'GET /user/mary/profile'), { status: 401 })
  },
)
