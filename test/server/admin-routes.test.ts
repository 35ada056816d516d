import { readFileSync } from 'node:fs'
import t from 'tap'
import type { AdminRoute } from '../../src/metrics/admin-listener.ts'
import { ADMIN_ROUTES } from '../../src/server/admin-routes.ts'

t.test('docs/configuration/reload.md lists the routes of the admin listener', async (t) => {
  const page = readFileSync(new URL('../../docs/configuration/reload.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `((?:GET|POST) [^`]+)` \| (.+) \|$/gm)].map(([, route, purpose]) => [
    route,
    purpose,
  ])
  t.same(
    rows,
    Object.values(ADMIN_ROUTES).map(({ method, path, purpose }) => [`${method} ${path}`, purpose]),
  )
})

t.test('docs/audit.md lists the routes that write an audit line', async (t) => {
  const page = readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8')
  const [line = ''] = page.match(/^\| `admin` \| .+$/m) ?? []
  const routes: readonly Pick<AdminRoute, 'method' | 'path' | 'isAudited'>[] = Object.values(ADMIN_ROUTES)
  const audited = routes.filter(({ method, isAudited = method === 'POST' }) => isAudited)
  t.same(
    [...line.matchAll(/`((?:GET|POST) [^`]+)`/g)].map(([, route]) => route),
    audited.map(({ method, path }) => `${method} ${path}`),
  )
})
