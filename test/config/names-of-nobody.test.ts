import t from 'tap'
import { warningsOf } from '../../src/config/warnings.ts'
import { loadSettings, problemsIn, settingsWith } from '../support/config-file.ts'

const NODES = [
  { url: 'http://a:8080/engine-rest', group: 'old' },
  { url: 'http://b:8080/engine-rest', group: 'new' },
]

t.test('* is refused in lists of users and groups, with what to write instead', (t) => {
  const records = { source: 'file', file: 'a.yaml' }
  const cases = [
    [
      { limits: { ceilings: [{ users: ['*'], ceiling: 'read' }] } },
      {},
      /^limits\.ceilings\[0\]\.users\[0\]: .*a rule without users, groups/,
    ],
    [
      { limits: { ceilings: [{ groups: ['*'], ceiling: 'read' }] } },
      {},
      /^limits\.ceilings\[0\]\.groups\[0\]: .*applies to every caller/,
    ],
    [
      { limits: { ceilings: [{ clients: ['a', '*'], ceiling: 'read' }] } },
      {},
      /^limits\.ceilings\[0\]\.clients\[1\]: /,
    ],
    [
      { authorization: { records, adminUsers: ['*'] } },
      {},
      /^authorization\.adminUsers\[0\]: .*type 0 \(GLOBAL\)/,
    ],
    [
      { authorization: { records, adminGroups: ['*'] } },
      {},
      /^authorization\.adminGroups\[0\]: .*type 0 \(GLOBAL\)/,
    ],
    [
      {},
      { nodes: NODES, shift: { to: 'new', callers: ['*'] } },
      /^engines\.default\.shift\.callers\[0\]: .*leave out callers/,
    ],
    [
      { limits: { rate: { requests: 9, per: '1s', users: { '*': 'unlimited' } } } },
      {},
      /^limits\.rate\.users.*apply to every user/,
    ],
    [
      { limits: { maxResults: { items: 9, groups: { '*': 8 } } } },
      {},
      /^limits\.maxResults\.groups.*applies to every caller/,
    ],
    [{ audit: { reads: ['*'] } }, {}, /^audit\.reads\[0\]: .*write the name of each operation/],
  ] as const
  for (const [settings, engine, problem] of cases)
    t.match(problemsIn(t, settingsWith(settings, engine)), [problem])
  t.end()
})

t.test('a ceiling of all without a rate is refused, because it limits nothing', (t) => {
  const rules = (rule: object) => problemsIn(t, settingsWith({ limits: { ceilings: [rule] } }))
  t.match(rules({ ceiling: 'all' }), [/^limits\.ceilings\[0\]\.ceiling: all without a rate limits nothing/])
  t.same(rules({ ceiling: 'all', rate: { requests: 1, per: '1s' } }), [])
  t.end()
})

t.test('a comparison of no response is refused', (t) => {
  const compare = { rate: '0%' }
  t.match(problemsIn(t, settingsWith({}, { nodes: NODES, shift: { to: 'new' }, compare })), [
    /^engines\.default\.compare\.rate: compares nothing/,
  ])
  t.end()
})

t.test('a date format with the year of the week or the day of the year causes a warning', (t) => {
  const warnings = (dateFormat: string) => warningsOf(loadSettings(t, settingsWith({}, { dateFormat })))
  t.match(warnings('YYYY-MM-DD'), [
    /^engines\.default\.dateFormat: Y is the year of the week.*D is the day of the year/,
  ])
  t.match(warnings('yyyy-MM-DD'), [/: D is the day of the year/])
  for (const right of ['yyyy-MM-dd', "YYYY-'W'ww-u", 'yyyy-DDD', "yyyy-MM-dd'D'"])
    t.same(warnings(right), [], right)
  t.end()
})
