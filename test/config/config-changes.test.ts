import t from 'tap'
import { restartProblems } from '../../src/config/config-changes.ts'

t.test('socket settings need a restart, and settings with similar names do not', (t) => {
  const sockets = ['listen.port', 'listen.tls', 'listen.tls.clients.user', 'admin.tls', 'admin.tls.cert']
  t.same(
    restartProblems(sockets),
    sockets.map((path) => `${path}: needs a restart`),
  )
  t.same(restartProblems(['listen.trustedProxies', 'listen.tlsx', 'cache.redis.tls', 'engines.a.tls.ca']), [])
  t.end()
})
