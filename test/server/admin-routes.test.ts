import { readFileSync } from 'node:fs'
import t from 'tap'
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
