import t from 'tap'
import { queryOf } from '../../../src/request/canonical.ts'
import { pagingOf } from '../../../src/request/paging.ts'
import { splitAt } from '../../../src/request/java-text.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders } from './compare.ts'
import { answerOf, eachOf, openEngine } from './open-engine.ts'
import { canonical } from './targets.ts'
import { textFrom, words } from './texts.ts'
import { jsonOf } from './wire.ts'

const PLAIN = 'ab01&=;,/?:@!$*()~._-+'.split('')
const ENCODED = words(`
    %2B %2b %20 %26 %3D %3B %2C %22 %5C %61 %25 %2525 %3F %23 %5B %00 %0a %7F %C3%A4 %c3%a4
    %F0%9F%98%80 %EF%BB%BF %EF%BF%BD %C2%A0 %E2%80%A8 % %zz %2 %u0061 %%41 %4%31
  `)

/** Fragments that the gateway or the engine's container refuses. */
const ODD = words(`%C3 %ED%A0%80 %C0%80 %FE %F4%90%80%80 [ ] '`)
const NAMES = [
  ...words(`
    sortBy sortBy sortBy s%6FrtBy %73ortBy sortB%79 sortby sortBy+ +sortBy ?sortBy %20sortBy
    sortBy%00 %EF%BB%BFsortBy sort%2542y x sortBy;a ;sortBy sortBy%3D &sortBy
  `),
  '',
]

function makePairs(random: Random): string {
  const pairs: string[] = []
  for (let left = random.below(4); left >= 0; left -= 1) {
    const value = textFrom(random, random.chance(0.5) ? PLAIN : ENCODED, 5)
    pairs.push(random.pick(NAMES) + (random.chance(0.9) ? `=${value}` : ''))
  }
  if (random.chance(0.1)) pairs.push(random.pick(ODD))
  return pairs.join(random.chance(0.95) ? '&' : random.pick(['&&', ';', '%26', '?']))
}

const SAID = /^Cannot set query parameter 'sortBy' to value '(.*)'$/s

t.test('the engine decodes the parameters of a query as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask, make } = await openEngine(t)

  await compareReaders(t, {
    what: 'names and values',
    inputs: 3000,
    part: 1,
    make: makePairs,
    compare: async (query) => {
      // The engine receives the query as the client sends it, because the encoding of the gateway does not change its meaning.
      const path = `/task?${query}`
      const target = canonical(path)
      if (target === null) return 'refused'
      const told = await ask({ path })
      const answer = jsonOf(told)
      // The container accepts fewer characters than the gateway.
      if (answer === undefined && told.status === 400) return null
      const engine =
        told.status === 200 ? null : (SAID.exec(String(Object(answer)['message']))?.[1] ?? answer)
      const gateway = queryOf(target).get('sortBy') ?? null
      return engine === gateway ? null : { engine, gateway }
    },
  })

  const users = [...words('a b A ab ä null + "a" a;b'), ' a', 'a ', ' ', 'a b', '\t', '\u0000', '\u00a0a']
  for (const userId of users)
    await make('POST /authorization/create', {
      type: 1,
      permissions: [],
      userId,
      resourceType: 7,
      resourceId: 'list',
    })
  await compareReaders(t, {
    what: 'lists',
    inputs: 1500,
    part: 2,
    make: (random) =>
      textFrom(random, words(', , a b A + %20 %2C %2B %C3%A4 %09 null %00 %22 ; %C2%A0 %0b %E2%80%83'), 9),
    compare: async (list) => {
      const told = await ask({ path: `/authorization?resourceId=list&userIdIn=${list}` })
      const items = splitAt(queryOf(`/?a=${list}`).get('a') ?? '', ',')
      const engine = eachOf(jsonOf(told), 'userId').map(String).sort()
      const gateway = users.filter((user) => items.length === 0 || items.includes(user)).sort()
      return JSON.stringify(engine) === JSON.stringify(gateway) && told.status === 200
        ? null
        : { engine, gateway, told: answerOf(told) }
    },
  })

  const tenants = Array.from({ length: 12 }, (_, index) => `t${String(index).padStart(2, '0')}`)
  for (const id of tenants) await make('POST /tenant/create', { id, name: id })
  const NUMBERS = [
    ...words(`
    0 1 3 11 12 -1 -2 +1 %2B1 %2B 007 1.0 1e0 %201 1%20 0x1 1,2 -0 %2D1 2147483647 2147483648
    -2147483648 -2147483649 99999999999999999999 %D9%A1%D9%A2 %EF%BC%99 %F0%9D%9F%8F %E0%A5%A7
    1_0 null %00 1%00 %C2%A01 1L 00000000000000000000001 %2B%D9%A1 -%EF%BC%91 %E1%AA%90
    %EA%A7%B1 %E0%B7%A7
  `),
    '',
  ]
  await compareReaders(t, {
    what: 'pages',
    inputs: 1500,
    part: 3,
    make: (random) =>
      random
        .sample(['firstResult', 'maxResults', 'firstResult', 'maxResults', 'maxresults'], random.below(4))
        .map((name) => `${name}=${random.pick(NUMBERS)}`)
        .join('&'),
    compare: async (query) => {
      const told = await ask({ path: `/tenant?sortBy=id&sortOrder=asc&${query}` })
      const paging = pagingOf(queryOf(`/?${query}`))
      // The engine responds with its own error, so there must be one.
      if (paging === null) return told.status >= 400 ? null : { engine: answerOf(told), gateway: paging }
      const engine = told.status === 200 ? eachOf(jsonOf(told), 'id') : answerOf(told)
      const gateway = tenants.slice(paging.first, paging.first + paging.max)
      return JSON.stringify(engine) === JSON.stringify(gateway) ? null : { engine, gateway }
    },
  })
})
