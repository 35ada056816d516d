import t from 'tap'
import { loadSettings, problemsIn, settingsWith } from '../support/config-file.ts'

t.test('a missing variable is reported once for each place', async (t) => {
  const account = { username: '${NO_SUCH}', password: 'x' }
  const settings = settingsWith(
    { cache: { redis: '${NO_SUCH}' }, admin: { port: '${NO_SUCH}' }, hosts: ['a', '${NO_SUCH}'] },
    { credentials: account, nodes: ['${NO_SUCH}', { url: '${file:nosuch}' }] },
  )
  t.same(
    problemsIn(t, settings)
      .map((problem) => problem.replace(/: .*/, ''))
      .toSorted(),
    [
      'admin.port',
      'cache.redis',
      'engines.default.credentials.username',
      'engines.default.nodes[0]',
      'engines.default.nodes[1].url',
      'hosts[1]',
    ],
  )
})

t.test('an empty variable takes its default, as in a shell', async (t) => {
  const hostWith = (text: string, env: NodeJS.ProcessEnv) =>
    loadSettings(t, settingsWith({ listen: { host: text } }), env).listen.host
  t.equal(hostWith('${SOME_HOST:-0.0.0.0}', { SOME_HOST: '' }), '0.0.0.0')
  t.equal(hostWith('${SOME_HOST:-0.0.0.0}', {}), '0.0.0.0')
  t.equal(hostWith('${SOME_HOST:-0.0.0.0}', { SOME_HOST: '::' }), '::')
  t.equal(hostWith('${SOME_HOST:-}', {}), '')
  t.equal(hostWith('${SOME_HOST}', { SOME_HOST: '' }), '')
})

t.test(
  'a variable may hold text, a number, a duration or a size, but neither a boolean nor a list',
  async (t) => {
    const settings = settingsWith({ workers: '${N}', timeouts: { drain: '${T}' }, limits: { body: '${S}' } })
    t.match(loadSettings(t, settings, { N: '2', T: '3s', S: '4B' }), {
      workers: 2,
      timeouts: { drain: 3000 },
      limits: { body: 4 },
    })
    const others = settingsWith({ health: { probe: '${B}' }, hosts: '${L}' })
    t.match(problemsIn(t, others, { B: 'false', L: '[]' }), [/^hosts: /, /^health\.probe: /])
  },
)
